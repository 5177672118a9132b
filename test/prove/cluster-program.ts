// A program: a cluster lives through cases of test/contract-fdb while users write and look at all they wrote. Ends with code
// 0 when every case passed and no promise to the users was broken. Rules: spec/proof.md [PROVE5], [PROVE6].
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allLifeCases, runLifeCase, separateLifeCases } from "../contract-fdb/life-cases.ts";
import type { LifeCase, LifeTarget } from "../contract-fdb/life-target.ts";
import { statusOf } from "../contract-fdb/life-target.ts";
import { upgradeCase } from "../contract-fdb/life-upgrade-case.ts";
import { realLife, simulatedLife } from "../contract-fdb/life-worlds.ts";
import type { Life } from "../contract-fdb/life-worlds.ts";
import { buildObjectStore } from "../object-store.ts";
import { duration } from "./proof-page.ts";
import { WriteLoad } from "./write-load.ts";

const { values } = parseArgs({
  options: {
    on: { type: "string", default: "simulated" },
    cases: { type: "string", default: "" },
    upgrade: { type: "string", default: "" },
    "without-load": { type: "boolean", default: false },
  },
});
const sample = join(import.meta.dirname, "..", "..", "examples", "local-processes.yaml");
/** Virtual time costs processor time for every transaction; a real database waits between two by itself. */
const pauseMs = { real: 20, simulated: 1_000 };

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const isReal = values.on === "real";
const [from, to = ""] = values.upgrade.split(":");
const ids = values.cases.split(",").filter((id) => id !== "");
const cases: readonly LifeCase[] = [
  ...[...allLifeCases, ...separateLifeCases].filter(
    ({ title, needs }) =>
      ids.some((id) => title.includes(id)) && (isReal || needs !== "client-process"),
  ),
  ...(from === undefined || from === "" ? [] : [upgradeCase(from, to)]),
];
const alone = cases.find((each) => each.beginning !== undefined);
if (alone !== undefined && cases.length > 1) {
  say(`FAILED: ${alone.title} has a life of its own: run it without other cases`);
  process.exit(2);
}
const beginning = begin();
process.once("SIGTERM", () => {
  // Only real servers and their folders outlive this process.
  if (!isReal) process.exit(143);
  const stopped = beginning.then((each) => each.stop());
  const end = (): void => process.exit(143);
  stopped.then(end, end);
});
const life = await beginning;
let isProven = false;
try {
  isProven = await live(life.target);
} finally {
  await life.stop();
}
process.exit(isProven ? 0 : 1);

async function begin(): Promise<Life> {
  if (!isReal) return simulatedLife(sample, alone?.beginning);
  const needsStore = cases.some(({ needs }) => needs === "object-store");
  const store = needsStore ? await buildObjectStore(process.env, say) : undefined;
  return realLife(process.env, store, alone?.beginning);
}

async function live(target: LifeTarget): Promise<boolean> {
  const load = values["without-load"] ? undefined : await startLoad(target);
  const generation = (await statusOf(target)).cluster?.generation ?? 0;
  let passed = 0;
  for (const each of cases) {
    if (!(await attempt(target, each))) break;
    passed += 1;
  }
  if (passed < cases.length) return false;
  const grown = ((await statusOf(target)).cluster?.generation ?? 0) - generation;
  // A recovery counts twice, and once when another one took its place half-way.
  const recoveries = Math.ceil(grown / 2);
  say(`figure: cases: ${passed}, recoveries: ${recoveries}`);
  return load === undefined || endLoad(target, load);
}

async function attempt(target: LifeTarget, each: LifeCase): Promise<boolean> {
  const startedMs = target.world.clock.nowMs();
  const kind = isReal ? "" : " of virtual time";
  const time = (): string => `${duration((target.world.clock.nowMs() - startedMs) / 1000)}${kind}`;
  try {
    const measured = await runLifeCase(target, each);
    say(`figure: ${time()}: ${each.title.replaceAll(/\[\w+\] /g, "")}`);
    for (const text of measured) say(`figure: ${text}`);
    return true;
  } catch (error) {
    say(`FAILED after ${time()}: ${each.title}`);
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return false;
  }
}

async function startLoad(target: LifeTarget): Promise<WriteLoad> {
  const { admin, world } = target;
  const load = new WriteLoad({
    ...{ admin, clock: world.clock, seed: 1, pauseMs: isReal ? pauseMs.real : pauseMs.simulated },
  });
  await target.finish(load.start());
  return load;
}

async function endLoad(target: LifeTarget, load: WriteLoad): Promise<boolean> {
  const { committed, failed, looks, longestPauseMs, broken } = await target.finish(load.stop());
  const pause = (longestPauseMs / 1000).toFixed(1);
  say(
    `figure: ${committed} transactions and ${looks} looks at everything, ${failed} gave up, ${pause} s the longest time without a commit, ${broken.length} promises broken`,
  );
  for (const text of broken) say(`BROKEN: ${text}`);
  return broken.length === 0;
}
