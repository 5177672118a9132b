// Random walks through the lives of clusters, as `npm run simulate` does them, and with --bite the proof that they find
// something: with each check of the guard switched off at least one life must go wrong.
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { simulate } from "../src/cli/simulate.ts";
import type { LifeOptions } from "../src/sim/workloads/life-walk.ts";
import { walkLife } from "../src/sim/workloads/life-walk.ts";

const checks = ["budget", "freshness", "certificate", "lock"] as const;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "20" },
    bite: { type: "boolean", default: false },
  },
});
const [seeds, seed, steps] = [values.seeds, values.seed, values.steps].map(Number) as [
  number,
  number,
  number,
];

const isWell = values.bite ? await bite() : await walks();
process.exitCode = isWell ? 0 : 1;

async function walks(): Promise<boolean> {
  const entry = join(dirname(import.meta.dirname), "src/cli/main.ts");
  const jobs = availableParallelism();
  const { failed } = await simulate({ seeds, seed, steps, jobs }, console.log, entry);
  return failed === 0;
}

/** For each check the first seed that fails without it and passes with it. */
async function bite(): Promise<boolean> {
  console.log("check switched off   seed   what goes wrong");
  let isProven = true;
  for (const check of checks) {
    const found = await firstFailure(check);
    isProven &&= found !== undefined;
    const text = found === undefined ? `     -   nothing within ${seeds} seeds` : describe(found);
    console.log(`${check.padEnd(18)} ${text}`);
  }
  return isProven;
}

function describe({ seed: number, failure }: { seed: number; failure: string }): string {
  return `${String(number).padStart(6)}   ${failure.split("\n")[0]?.slice(0, 160)}`;
}

async function firstFailure(
  check: (typeof checks)[number],
): Promise<{ seed: number; failure: string } | undefined> {
  const off: LifeOptions = { steps, disabledChecks: new Set([check]) };
  for (let number = seed; number < seed + seeds; number += 1) {
    const { failure } = await walkLife(number, off);
    if (failure === undefined) continue;
    const { failure: withCheck } = await walkLife(number, { steps });
    if (withCheck === undefined) return { seed: number, failure };
  }
  return undefined;
}
