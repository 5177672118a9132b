// The life of a cluster on the simulated database; with FoundationDB the same cases run by `npm run contract:fdb`.
import { join } from "node:path";
import { test } from "node:test";
import { allLifeCases, runLifeCase, separateLifeCases } from "./life-cases.ts";
import { upgradeCase } from "./life-upgrade-case.ts";
import { simulatedLife } from "./life-worlds.ts";

const sample = join(import.meta.dirname, "..", "..", "examples", "local-processes.yaml");

test("a cluster lives through its cases on the simulated database (long)", async (context) => {
  const life = await simulatedLife(sample);
  try {
    for (const each of allLifeCases.filter(({ needs }) => needs !== "client-process")) {
      await context.test(each.title, async () => void (await runLifeCase(life.target, each)));
    }
  } finally {
    await life.stop();
  }
});

const upgrades = [
  ["7.1.57", "7.3.63"],
  ["7.3.63", "7.3.79"],
] as const;

for (const [rule, each] of [
  ...upgrades.map(([from, to]) => ["[PROVE7]", upgradeCase(from, to)] as const),
  ...separateLifeCases.map((one) => ["[PROVE6]", one] as const),
]) {
  test(`${rule} ${each.title}, on the simulated database (long)`, async () => {
    const life = await simulatedLife(sample, each.beginning);
    try {
      await runLifeCase(life.target, each);
    } finally {
      await life.stop();
    }
  });
}
