// `npm run multi-walks -- --seeds 20 --seed 1`: random walks of several operators on one database, a line for each seed.
// Ends with 1 and the whole story of each seed that went wrong. Rules: spec/multi.md [MU30], [MU31].
import { parseArgs } from "node:util";
import { multiWalk } from "../test/world/multi-walk.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "14" },
  },
});
const [seeds, first, steps] = [values.seeds, values.seed, values.steps].map(Number);
if (![seeds, first, steps].every((value) => Number.isInteger(value) && Number(value) >= 0)) {
  process.stderr.write("usage: npm run multi-walks -- [--seeds 20] [--seed 1] [--steps 14]\n");
  process.exitCode = 2;
} else await walkAll(first ?? 1, seeds ?? 0, steps ?? 0);

async function walkAll(from: number, count: number, stepCount: number): Promise<void> {
  process.stdout.write(`seeds ${from} to ${from + count - 1}, ${stepCount} steps each\n`);
  let failed = 0;
  for (let seed = from; seed < from + count; seed += 1) {
    const story = await walkOne(seed, stepCount);
    process.stdout.write(`${story.text}\n`);
    if (!story.isWell) failed += 1;
  }
  process.stdout.write(`${count - failed} of ${count} seeds are well\n`);
  if (failed > 0) process.exitCode = 1;
}

async function walkOne(
  seed: number,
  stepCount: number,
): Promise<{ isWell: boolean; text: string }> {
  try {
    const { kills, recoveries, virtualMinutes, events, hash } = await multiWalk(seed, {
      steps: stepCount,
    });
    const figures = `${events.length} events, ${kills} kills, ${recoveries} recoveries`;
    const text = `seed ${seed}: ${figures}, ${virtualMinutes} virtual minutes, ${hash.slice(0, 12)}`;
    return { isWell: true, text };
  } catch (error) {
    return { isWell: false, text: `FAILED: ${(error as Error).message}` };
  }
}
