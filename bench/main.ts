// `npm run bench`: what creation and a look without work cost for clusters of growing size, and the
// memory of the operator, each beside its aim. The figures are those of one machine: no test.
import { parseArgs } from "node:util";
import { runCluster } from "./cluster-run.ts";
import type { ClusterRun } from "./cluster-run.ts";
import { runMemory } from "./memory.ts";
import {
  allAims,
  creationTable,
  footnotes,
  growthTable,
  memoryTable,
  noOpTable,
  restartTable,
} from "./report.ts";
import type { Aim } from "./report.ts";

const usage = `usage: npm run bench -- [--sizes 20,100] [--quick] [--json] [--no-memory]
  --sizes      process groups, separated by commas (default 20,100,500,2000; with --quick 20,100)
  --quick      small sizes, fewer repetitions and a shorter rest
  --json       figures as JSON instead of tables
  --no-memory  leave out the operator in a process of its own`;

const seed = 1;
const memoryGroups = 15;

interface Options {
  sizes: number[];
  isQuick: boolean;
  isJson: boolean;
  hasMemory: boolean;
}

const options = readOptions();
if (options === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
} else {
  await main(options);
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      allowNegative: true,
      options: {
        sizes: { type: "string" },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        memory: { type: "boolean", default: true },
        help: { type: "boolean", default: false },
      },
    });
    const text = values.sizes ?? (values.quick ? "20,100" : "20,100,500,2000");
    const sizes = text.split(",").map(Number);
    const isUsable = sizes.every((size) => Number.isInteger(size) && size >= 15 && size <= 10_000);
    if (values.help || !isUsable) return undefined;
    const { quick: isQuick, json: isJson, memory: hasMemory } = values;
    return { sizes, isQuick, isJson, hasMemory };
  } catch {
    // An unknown flag: the usage says what there is.
    return undefined;
  }
}

async function main({ sizes, isQuick, isJson, hasMemory }: Options): Promise<void> {
  const progress = progressTo(process.stderr);
  const noOpRuns = isQuick ? 9 : 25;
  const show = (text: string): void => {
    if (!isJson && text !== "") process.stdout.write(`${text}\n`);
  };
  // Memory comes first: it takes real time, and the parent must not be slowed down by a full heap.
  const memory = hasMemory
    ? await runMemory({ groups: memoryGroups, seed, restSeconds: isQuick ? 5 : 30, progress })
    : undefined;
  progress("warming up");
  await runCluster({ groups: 100, seed: seed + 1, noOpRuns: 1, progress: () => {} });
  const runs: ClusterRun[] = [];
  for (const groups of sizes) {
    progress(`${groups} process groups`);
    runs.push(await runCluster({ groups, seed, noOpRuns, progress }));
  }
  progress("");
  for (const table of [creationTable, noOpTable, restartTable, growthTable]) show(table(runs));
  if (memory !== undefined) show(memoryTable(memory));
  const judged = allAims(runs, memory);
  const missed = judged.filter(({ isMet }) => !isMet);
  show(footnotes);
  show(
    missed.length === 0
      ? `\nAll ${judged.length} aims are met.`
      : `\n${missed.length} of ${judged.length} aims are MISSED: ${namesOf(missed)}`,
  );
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ seed, runs, memory, aims: judged }, undefined, 2)}\n`);
  }
}

function namesOf(missed: readonly Aim[]): string {
  return missed.map(({ what, value, limit }) => `${what} (${value} > ${limit})`).join("; ");
}

/** On a terminal one line that changes, otherwise a line for each step. */
function progressTo(stream: NodeJS.WriteStream): (text: string) => void {
  return (text) => {
    if (stream.isTTY) stream.write(`\r\u001B[K${text}`);
    else if (text !== "") stream.write(`${text}\n`);
  };
}
