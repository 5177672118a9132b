// `npm run prove`: everything that this machine can prove of the operator, and one page about it. Rules: spec/proof.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "../src/env/command-error.ts";
import { machineClock } from "../src/env/clock.ts";
import { allProofs } from "../test/prove/all-proofs.ts";
import { chooseProofs } from "../test/prove/choose-proofs.ts";
import { findMachine } from "../test/prove/machine.ts";
import { placed, proofPage, skippedLines, summaryOf } from "../test/prove/proof-page.ts";
import { runProofs } from "../test/prove/run-proofs.ts";

const usage = `Usage: npm run prove -- [options]
  --list            names every proof, and what is missing for those that would be skipped
  --only NAME       only the proofs whose name begins so; may be given several times ("real" is the real half)
  --minutes N       ends after N minutes, 1 to 1440 (240)
  --output FILE     writes the page there; a file with a place for it, as docs/proof.md has, keeps the rest

Without FoundationDB the simulated half runs. With it, name the folders in FDB_BINARY_DIR and FDB_LIBRARY_DIR.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage =
    error instanceof UsageError ||
    (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
  process.stderr.write(`${isUsage && error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      list: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      minutes: { type: "string", default: "240" },
      output: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    say(usage);
    return 0;
  }
  const minutes = Number(values.minutes);
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > 1440) {
    throw new UsageError(`--minutes ${values.minutes}: it must be a whole number from 1 to 1440`);
  }
  const { output } = values;
  if (output !== undefined && !existsSync(dirname(resolve(output)))) {
    throw new UsageError(`--output ${output}: there is no folder ${dirname(resolve(output))}`);
  }
  const machine = await findMachine(process.env);
  const { chosen, skipped } = chooseProofs(allProofs(machine), machine, values.only);
  if (values.list) {
    for (const { name, what } of chosen) say(`${name}: ${what}`);
    for (const { proof } of skipped) say(`${proof.name}: ${proof.what}`);
    for (const line of skippedLines(skipped)) say(`\nwould be skipped: ${line}`);
    return 0;
  }
  const clock = machineClock();
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => interruption.abort());
  }
  for (const line of skippedLines(skipped)) say(`skipped ${line}`);
  const { signal } = interruption;
  const ran = await runProofs(chosen, { clock, minutes, signal, say, environment: process.env });
  clock.stop();
  const run = {
    day: new Date(clock.nowMs()).toISOString().slice(0, 10),
    ...{ operatorVersion: operatorVersion(), machine, results: ran.results },
    skipped: [...ran.skipped, ...skipped],
  };
  say(`\n${proofPage(run)}\n\n${summaryOf(run)}`);
  if (output !== undefined) writePage(output, proofPage(run));
  return ran.results.every(({ verdict }) => verdict === "proven") ? 0 : 1;
}

function operatorVersion(): string {
  const file = join(import.meta.dirname, "..", "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function writePage(file: string, page: string): void {
  writeFileSync(file, placed(existsSync(file) ? readFileSync(file, "utf8") : undefined, page));
}
