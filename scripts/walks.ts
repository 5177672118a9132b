// The proof that random walks find something (`npm run bite`): with each check of the guard switched off a life goes
// wrong that goes well with it. --search looks for such seeds, from --seed on.
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { liveAll } from "../src/cli/life-workers.ts";
import type { LifeResult } from "../src/sim/workloads/life-walk.ts";

const checks = ["budget", "freshness", "certificate", "lock"] as const;
type Check = (typeof checks)[number];

/** Lives that needed the check: a change of anything can make another life of a seed, so there are several. */
const candidates: Readonly<Record<Check, readonly number[]>> = {
  budget: [36, 2, 200, 122, 57, 172],
  freshness: [1, 16, 27],
  certificate: [1, 2, 10],
  lock: [8, 12, 20, 26],
};

const { values } = parseArgs({
  options: {
    search: { type: "boolean", default: false },
    check: { type: "string" },
    seeds: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
  },
});

const workers = {
  entry: join(dirname(import.meta.dirname), "src/cli/main.ts"),
  count: availableParallelism(),
};

process.exitCode = (await (values.search ? search() : bite())) ? 0 : 1;

async function bite(): Promise<boolean> {
  console.log("check switched off   seed   what goes wrong without it");
  let isProven = true;
  for (const check of checks) isProven = (await biteOne(check)) && isProven;
  return isProven;
}

/** The first candidate that goes wrong without the check and well with it. */
async function biteOne(check: Check): Promise<boolean> {
  for (const seed of candidates[check]) {
    const requests = [{ disabledChecks: new Set([check]) }, {}].map((options) => ({
      seed,
      options,
    }));
    const failures: (string | undefined)[] = [];
    await liveAll(requests, workers, ({ failure }) => failures.push(failure?.split("\n")[0]));
    const [without, within] = failures;
    if (without === undefined || within !== undefined) continue;
    console.log(`${check.padEnd(18)} ${String(seed).padStart(6)}   ${without.slice(0, 160)}`);
    return true;
  }
  console.log(`${check.padEnd(18)}      -   NOTHING: look for other seeds with --search`);
  return false;
}

/** Tells every seed that fails without a check and passes with it. */
async function search(): Promise<boolean> {
  const [seeds, first] = [Number(values.seeds), Number(values.seed)];
  for (const check of checks.filter((each) => [undefined, each].includes(values.check as Check))) {
    const numbers = Array.from({ length: seeds }, (_, index) => first + index);
    const off = { disabledChecks: new Set([check]) };
    const suspects: LifeResult[] = [];
    await liveAll(
      numbers.map((seed) => ({ seed, options: off })),
      workers,
      (result) => {
        if (result.failure !== undefined) suspects.push(result);
      },
    );
    const again = suspects.map(({ seed }) => ({ seed, options: {} }));
    await liveAll(again, workers, ({ seed, failure }) => {
      if (failure !== undefined) return;
      const found = suspects.find((suspect) => suspect.seed === seed);
      console.log(`${check} ${seed} ${found?.failure?.split("\n")[0]}`);
    });
  }
  return true;
}
