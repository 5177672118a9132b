// The proof that random walks find something (`npm run bite`): with each check of the guard switched off a life goes
// wrong that goes well with it. --search looks for such seeds, from --seed on.
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { liveAll } from "../src/cli/life-workers.ts";
import type { LifeResult } from "../src/sim/workloads/life-walk.ts";

const checks = ["budget", "freshness", "certificate", "lock"] as const;
type Check = (typeof checks)[number];

/** A life that needs the check. */
const biting: Readonly<Record<Check, number>> = {
  budget: 122,
  freshness: 1,
  certificate: 1,
  lock: 8,
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
  const requests = checks.flatMap((check) => [
    { seed: biting[check], options: { disabledChecks: new Set([check]) } },
    { seed: biting[check], options: {} },
  ]);
  const failures: (string | undefined)[] = [];
  await liveAll(requests, workers, ({ failure }) => failures.push(failure?.split("\n")[0]));
  console.log("check switched off   seed   what goes wrong without it");
  const verdicts = checks.map((check, index) => {
    const [without, within] = failures.slice(2 * index, 2 * index + 2);
    const text = without ?? "NOTHING: the check is not needed here";
    console.log(`${check.padEnd(18)} ${String(biting[check]).padStart(6)}   ${text.slice(0, 160)}`);
    if (within !== undefined) console.log(`  WITH THE CHECK TOO: ${within}`);
    return without !== undefined && within === undefined;
  });
  return verdicts.every(Boolean);
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
