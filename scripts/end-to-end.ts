// `npm run end-to-end`: scenarios on real control planes, each on its own. Arguments narrow them by title.
import { scenarios } from "../test/end-to-end/all-scenarios.ts";
import { runScenario } from "../test/end-to-end/scenario.ts";

const wanted = process.argv.slice(2).join(" ").toLowerCase();
const chosen = scenarios.filter((each) => each.title.toLowerCase().includes(wanted));
if (chosen.length === 0) {
  process.stderr.write(`no scenario contains "${wanted}"\n`);
  process.exit(2);
}
let failed = 0;
for (const scenario of chosen) {
  const startedAt = performance.now();
  try {
    await runScenario(scenario, (line) => process.stdout.write(`    ${line}\n`));
    process.stdout.write(`ok      ${scenario.title} (${seconds(startedAt)})\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${scenario.title} (${seconds(startedAt)})\n`);
    process.stdout.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  }
}
process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);

function seconds(startedAt: number): string {
  return `${Math.round((performance.now() - startedAt) / 1000)} s`;
}
