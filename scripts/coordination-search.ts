// Proves that instances in global mode never harm each other: tries everything that can happen in small worlds of two
// instances, lives through random lives of three, and shows that each check is needed, since without it something goes
// wrong. --seeds sets the number of random lives.
import { parseArgs } from "node:util";
import { provenChecks } from "../test/coordination/checks.ts";
import { liveOnce } from "../test/coordination/random-schedule.ts";
import { scenarios, search } from "../test/coordination/search.ts";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "1000" } } });
const seeds = Number(values.seeds);
let isGood = true;
let states = 0;

console.log(
  "Everything that can happen to two instances with two process groups each, with one crash anywhere:",
);
for (const scenario of scenarios) {
  const result = await search(scenario);
  states += result.states;
  isGood &&= result.violation === undefined;
  const verdict = result.violation ?? `${result.endings} endings, all good`;
  console.log(`  ${String(result.states).padStart(8)} states  ${scenario.name}: ${verdict}`);
}
console.log(`  ${String(states).padStart(8)} states in all`);

const lives = { crashes: 0, kills: 0, exclusions: 0 };
for (let seed = 1; seed <= seeds; seed += 1) {
  const life = await liveOnce(seed);
  lives.crashes += life.crashes;
  lives.kills += life.kills;
  lives.exclusions += life.exclusions;
  if (life.violation === undefined) continue;
  isGood = false;
  console.log(`  ${life.violation}`);
}
console.log(
  `${seeds} random lives of three instances: ${lives.crashes} crashes, ${lives.kills} kills, ${lives.exclusions} exclusions`,
);

console.log("Without each check in turn:");
for (const { check, scenario, violation } of await provenChecks()) {
  isGood &&= violation !== undefined;
  const [what = "NOTHING GOES WRONG: the check is not needed, or not tested"] = (
    violation ?? ""
  ).split(" [");
  console.log(
    `  ${check.padEnd(16)} ${scenario.padEnd(30)} ${what === "" ? "nothing goes wrong" : what}`,
  );
}
process.exitCode = isGood ? 0 : 1;
