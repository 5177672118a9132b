// The contract cases on the emulator's HTTPS server, as kubectl and other clients reach it.
import { test } from "node:test";
import { allCases } from "./all-cases.ts";
import { emulatorHttpsTargets } from "./emulator-target.ts";

const makeTarget = emulatorHttpsTargets();
const cases = allCases.filter((each) => each.needs !== "scheduler");

for (const [index, contractCase] of cases.entries()) {
  void test(`${contractCase.title}, over HTTPS`, async () => {
    const target = await makeTarget(index, contractCase);
    try {
      await contractCase.run(target);
    } finally {
      await target.end();
    }
  });
}
