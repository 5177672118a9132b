// The proof that random walks find something (`npm run bite`): without each check of the guard a life goes wrong that
// goes well with it. --search looks for such seeds, from --seed on.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { liveAll, serveLives } from "../src/cli/life-workers.ts";
import { walkLife } from "../src/sim/workloads/life-walk.ts";
import type { LifeResult } from "../src/sim/workloads/life-walk.ts";
import { withoutCheck } from "../test/fixtures/without-check.ts";

const checks = ["budget", "freshness", "certificate", "lock"] as const;
type Check = (typeof checks)[number];

interface WalkRequest {
  readonly seed: number;
  readonly without?: Check;
}

/** Lives that needed the check: a change of anything can make another life of a seed, so there are several. */
const candidates: Readonly<Record<Check, readonly number[]>> = {
  budget: [35, 51, 56, 44, 97],
  freshness: [1, 16, 27],
  certificate: [1, 2, 10],
  lock: [8, 12, 20, 26],
};

const live = ({ seed, without }: WalkRequest): Promise<LifeResult> =>
  walkLife(seed, without === undefined ? {} : { checks: withoutCheck(without) });
// Each worker runs this very file.
const workers = { entry: import.meta.filename, count: availableParallelism(), live };

if (!serveLives(live)) process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      search: { type: "boolean", default: false },
      check: { type: "string" },
      seeds: { type: "string", default: "50" },
      seed: { type: "string", default: "1" },
    },
  });
  return values.search ? search(values) : bite();
}

async function bite(): Promise<boolean> {
  console.log("check left out      seed   what goes wrong without it");
  let isProven = true;
  for (const check of checks) isProven = (await biteOne(check)) && isProven;
  return isProven;
}

/** The first candidate that goes wrong without the check and well with it. */
async function biteOne(check: Check): Promise<boolean> {
  for (const seed of candidates[check]) {
    const requests: WalkRequest[] = [{ seed, without: check }, { seed }];
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
async function search(values: {
  seeds: string;
  seed: string;
  check?: string | undefined;
}): Promise<boolean> {
  const [seeds, first] = [Number(values.seeds), Number(values.seed)];
  for (const check of checks.filter((each) => [undefined, each].includes(values.check as Check))) {
    const numbers = Array.from({ length: seeds }, (_, index) => first + index);
    const suspects: LifeResult[] = [];
    await liveAll(
      numbers.map((seed): WalkRequest => ({ seed, without: check })),
      workers,
      (result) => {
        if (result.failure !== undefined) suspects.push(result);
      },
    );
    const again = suspects.map(({ seed }): WalkRequest => ({ seed }));
    await liveAll(again, workers, ({ seed, failure }) => {
      if (failure !== undefined) return;
      const found = suspects.find((suspect) => suspect.seed === seed);
      console.log(`${check} ${seed} ${found?.failure?.split("\n")[0]}`);
    });
  }
  return true;
}
