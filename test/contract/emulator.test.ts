// The contract cases on the emulator. `npm run contract` runs the same cases on a real control plane.
import { test } from "node:test";
import { allCases } from "./all-cases.ts";
import { emulatorTargets } from "./emulator-target.ts";

const makeTarget = emulatorTargets();

for (const [index, contractCase] of allCases.entries()) {
  void test(contractCase.title, async () => {
    const target = await makeTarget(index, contractCase);
    try {
      await contractCase.run(target);
    } finally {
      await target.end();
    }
  });
}
