// `npm run contract`: the contract cases on a real Kubernetes control plane and on the emulator, side by
// side. A difference is a mistake of the emulator.
import { parseArgs } from "node:util";
import { allCases } from "../test/contract/all-cases.ts";
import { builtComparisons } from "../test/contract/built-objects.ts";
import type { ContractCase } from "../test/contract/case.ts";
import { emulatorTargets } from "../test/contract/emulator-target.ts";
import { runCases } from "../test/contract/run-cases.ts";
import type { CaseResult } from "../test/contract/run-cases.ts";
import { runOnControlPlane } from "../test/contract/run-real.ts";
import { startControlPlane } from "../test/control-plane.ts";
import type { ControlPlane } from "../test/control-plane.ts";

const usage = `Usage: npm run contract -- [options]
  --only real|emulator       run one side only
  --filter TEXT              run the cases whose capability or title contains TEXT
  --emulated-version MINOR   let the real server behave as an older version, for example 1.34`;

const slowMs = 5000;
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    filter: { type: "string", default: "" },
    "emulated-version": { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help || (values.only !== undefined && !["real", "emulator"].includes(values.only))) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const say = (line: string): void => console.log(line);
// A scheduler does not work with an API server that plays an older version than its own.
const hasScheduler = values["emulated-version"] === undefined;
const cases = allCases
  .filter((each) => hasScheduler || each.needs !== "scheduler")
  .filter((each) =>
    `${each.capability} ${each.title}`.toLowerCase().includes(values.filter.toLowerCase()),
  );
if (cases.length === 0) {
  console.error(`no case contains "${values.filter}"`);
  process.exit(2);
}

const emulated = values.only === "real" ? [] : await runEmulated();
const real = values.only === "emulator" ? { results: [], skipped: [] } : await runReal();
const results = [...emulated, ...real.results];
printTable();
const failed = results.filter((result) => result.failure !== undefined).length;
say(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function runEmulated(): Promise<CaseResult[]> {
  const startedAt = performance.now();
  const found = await runCases(cases, emulatorTargets(), 1);
  report("emulator", found, startedAt);
  return found;
}

async function runReal(): Promise<{
  results: readonly CaseResult[];
  skipped: readonly ContractCase[];
}> {
  const startedAt = performance.now();
  const controlPlane = await startControlPlane({
    withControllerManager: "if-present",
    emulatedVersion: values["emulated-version"],
    say,
  }).catch((error: unknown) => {
    console.error(`contract: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
  try {
    say(`real control plane: ${controlPlane.source}`);
    const run = await runOnControlPlane(controlPlane, cases);
    for (const each of run.skipped) say(`skipped, no ${each.needs}: ${each.title}`);
    report("real", run.results, startedAt);
    return { ...run, results: [...run.results, ...(await compared(controlPlane))] };
  } finally {
    await controlPlane.stop();
  }
}

/** What both servers would store for the operator's own objects must be the same to the last field. */
async function compared(controlPlane: ControlPlane): Promise<CaseResult[]> {
  const name = "objects of the operator";
  if (values.only !== undefined || !name.includes(values.filter.toLowerCase())) return [];
  const startedAt = performance.now();
  const comparisons = builtComparisons(emulatorTargets());
  const found = await runOnControlPlane(controlPlane, comparisons, "compared");
  report("both, compared", found.results, startedAt);
  return [...found.results];
}

function report(side: string, found: readonly CaseResult[], startedAt: number): void {
  for (const { contractCase, failure } of found) {
    if (failure === undefined) continue;
    say(`\nFAILED on ${side}: ${contractCase.capability}: ${contractCase.title}\n${failure}`);
  }
  const slow = found.filter((result) => result.durationMs > slowMs);
  for (const { contractCase, durationMs } of slow) {
    say(`slow on ${side}: ${(durationMs / 1000).toFixed(1)} s, ${contractCase.title}`);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${side}: ${found.length} cases in ${seconds} s`);
}

function printTable(): void {
  const shown = new Map(cases.map((each) => [each.title, each.capability]));
  for (const { contractCase } of results) shown.set(contractCase.title, contractCase.capability);
  const capabilities = [...new Set(shown.values())];
  const width = Math.max(...capabilities.map((name) => name.length), "capability".length);
  const line = (...cells: readonly (string | number)[]): string =>
    cells
      .map((cell, index) => (index === 0 ? String(cell).padEnd(width) : String(cell).padStart(9)))
      .join(" ");
  say(`\n${line("capability", "cases", "emulator", "real")}`);
  for (const name of capabilities) {
    const count = [...shown.values()].filter((each) => each === name).length;
    say(line(name, count, passedOf(emulated, name), passedOf(real.results, name)));
  }
  say(line("all", shown.size, passedOf(emulated), passedOf(real.results)));
}

function passedOf(found: readonly CaseResult[], capability?: string): string {
  const of = found.filter(
    ({ contractCase }) => capability === undefined || contractCase.capability === capability,
  );
  return of.length === 0 ? "-" : String(of.filter((each) => each.failure === undefined).length);
}
