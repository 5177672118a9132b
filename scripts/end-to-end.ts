// `npm run end-to-end`: scenarios on real control planes, two at a time, each on its own: they wait for most of their time.
// Arguments narrow them by title.
import { findControlPlane } from "../test/control-plane-binary.ts";
import { scenarios } from "../test/end-to-end/all-scenarios.ts";
import { runScenario } from "../test/end-to-end/scenario.ts";
import type { Scenario } from "../test/end-to-end/scenario.ts";

const sideBySide = 2;

const wanted = process.argv.slice(2).join(" ").toLowerCase();
const chosen = scenarios.filter((each) => each.title.toLowerCase().includes(wanted));
if (chosen.length === 0) {
  process.stderr.write(`no scenario contains "${wanted}"\n`);
  process.exit(2);
}
// Built once, before two of them want it.
await findControlPlane(process.env, (line) => process.stdout.write(`${line}\n`));
let failed = 0;
const waiting = [...chosen];
await Promise.all(Array.from({ length: sideBySide }, runWaiting));
process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);

async function runWaiting(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
}

async function run(scenario: Scenario): Promise<void> {
  const startedAt = performance.now();
  // Lines of two scenarios are mixed: each begins with the first rule of its own.
  const rule = /^\[(\w+)\]/.exec(scenario.title)?.[1] ?? "";
  try {
    await runScenario(scenario, (line) => process.stdout.write(`    ${rule}  ${line}\n`));
    process.stdout.write(`ok      ${scenario.title} (${seconds(startedAt)})\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${scenario.title} (${seconds(startedAt)})\n`);
    process.stdout.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  }
}

function seconds(startedAt: number): string {
  return `${Math.round((performance.now() - startedAt) / 1000)} s`;
}
