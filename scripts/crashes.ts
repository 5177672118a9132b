// Crashes the operator before and after every single write of all scenarios and compares what its successor makes of
// it with the run that has no crash. --scenario takes one of them, --sample every so many writes; --image-type and
// --seed vary the cluster; --writes lists what is written. With --version-before the operator that crashes is that of the
// version before, and this one takes over.
import { parseArgs } from "node:util";
import { runScenario } from "../test/crash/crash-run.ts";
import { crashesOf, problemsOf } from "../test/crash/enumerate.ts";
import type { Program } from "../test/crash/crash-run.ts";
import { scenarios, variant } from "../test/crash/scenarios.ts";
import type { Scenario } from "../test/crash/scenarios.ts";
import { versionBefore } from "../test/crash/version-before.ts";

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    sample: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    "image-type": { type: "string", default: "unified" },
    writes: { type: "boolean", default: false },
    "version-before": { type: "boolean", default: false },
  },
});
const every = Number(values.sample);
const seed = Number(values.seed);
const spec = { imageType: values["image-type"] === "split" ? "split" : "unified" } as const;
const chosen = scenarios
  .filter(({ name }) => [undefined, name].includes(values.scenario))
  .filter(({ isUnknownBefore = false }) => !values["version-before"] || !isUnknownBefore)
  .map((scenario) => variant(scenario, { seed, spec }));
if (chosen.length === 0 || !Number.isInteger(every) || every < 1) {
  const names = scenarios.map(({ name }) => name).join(", ");
  console.error(`--scenario is one of ${names}; --sample is a whole number from 1 on`);
  process.exitCode = 2;
} else if (values["version-before"]) {
  const before = await versionBefore();
  if ("missing" in before) console.log(`SKIPPED: ${before.missing}`);
  else process.exitCode = (await runAll(chosen, before.program)) ? 0 : 1;
} else {
  process.exitCode = (await runAll(chosen)) ? 0 : 1;
}

async function runAll(list: readonly Scenario[], first?: Program): Promise<boolean> {
  let [passed, failed] = [0, 0];
  console.log("scenario               writes   runs   failures   seconds");
  for (const scenario of list) {
    const startedMs = Date.now();
    const { writes, runs, failures } = await runOne(scenario, first);
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
    const row = [String(writes).padStart(8), String(runs).padStart(6)];
    row.push(String(failures.length).padStart(10), seconds.padStart(9));
    console.log(`${scenario.name.padEnd(21)}${row.join(" ")}`);
    for (const failure of failures) console.log(`  ${failure.replaceAll("\n", "\n    ")}`);
    passed += runs - failures.length;
    failed += failures.length;
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}

async function runOne(
  scenario: Scenario,
  first: Program | undefined,
): Promise<{ writes: number; runs: number; failures: string[] }> {
  const expected = await runScenario(scenario);
  // What the version before writes decides where it crashes, and this version how it ends.
  const writes = first && (await runScenario(scenario, undefined, first)).writes;
  const whole = { ...expected, ...(writes && { writes }) };
  if (values.writes) whole.writes.forEach((name, index) => console.log(`  ${index + 1} ${name}`));
  const failures = problemsOf(scenario, expected).map((problem) => `without a crash: ${problem}`);
  let runs = failures.length;
  for await (const crash of crashesOf(scenario, whole, { every, first })) {
    runs += 1;
    const { write, moment, name, failure } = crash;
    if (failure !== undefined) {
      failures.push(`crash ${moment} write ${write} (${name}):\n${failure}`);
    }
    if (process.stderr.isTTY) {
      const head = `${scenario.name}: write ${write} of ${whole.writes.length}`;
      process.stderr.write(`\r${head}, ${failures.length} failed\u001B[K`);
    }
  }
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
  return { writes: whole.writes.length, runs, failures };
}
