// `npm run contract`: the contract cases on a real Kubernetes control plane and on the emulator, side by
// side. A difference is a mistake of the emulator.
import { parseArgs } from "node:util";
import { allCases } from "../test/contract/all-cases.ts";
import type { ContractCase } from "../test/contract/case.ts";
import { emulatorTargets } from "../test/contract/emulator-target.ts";
import { runCases } from "../test/contract/run-cases.ts";
import type { CaseResult } from "../test/contract/run-cases.ts";
import { runOnControlPlane } from "../test/contract/run-real.ts";
import { startControlPlane } from "../test/control-plane.ts";

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
const cases = allCases.filter((each) =>
  `${each.capability} ${each.title}`.toLowerCase().includes(values.filter.toLowerCase()),
);
if (cases.length === 0) {
  console.error(`no case contains "${values.filter}"`);
  process.exit(2);
}

const emulated = values.only === "real" ? [] : await runEmulated();
const real = values.only === "emulator" ? { results: [], skipped: [] } : await runReal();
printTable();
const results = [...emulated, ...real.results];
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
  });
  try {
    say(`real control plane: ${controlPlane.source}`);
    const run = await runOnControlPlane(controlPlane, cases);
    for (const each of run.skipped) say(`skipped, no ${each.needs}: ${each.title}`);
    report("real", run.results, startedAt);
    return run;
  } finally {
    await controlPlane.stop();
  }
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
  const capabilities = [...new Set(cases.map((each) => each.capability))];
  const width = Math.max(...capabilities.map((name) => name.length), "capability".length);
  const line = (...cells: readonly (string | number)[]): string =>
    cells
      .map((cell, index) => (index === 0 ? String(cell).padEnd(width) : String(cell).padStart(9)))
      .join(" ");
  say(`\n${line("capability", "cases", "emulator", "real")}`);
  for (const name of capabilities) {
    const count = cases.filter((each) => each.capability === name).length;
    say(line(name, count, passedOf(emulated, name), passedOf(real.results, name)));
  }
  say(line("all", cases.length, passedOf(emulated), passedOf(real.results)));
}

function passedOf(found: readonly CaseResult[], capability?: string): string {
  const of = found.filter(
    ({ contractCase }) => capability === undefined || contractCase.capability === capability,
  );
  return of.length === 0 ? "-" : String(of.filter((each) => each.failure === undefined).length);
}
