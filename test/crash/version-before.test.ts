// An update of the operator: that of the version before has made a cluster, this one takes over, and the other way round.
// Rules: spec/crash.md [CR10].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { runTerms } from "../../src/operate/terms.ts";
import { TestWorld, minuteMs } from "../world/world-harness.ts";
import { runScenario } from "./crash-run.ts";
import type { Program } from "./crash-run.ts";
import { crashAt } from "./enumerate.ts";
import { scenarios } from "./scenarios.ts";
import { versionBefore } from "./version-before.ts";

/** Undefined where the clone has no history; the test says so. */
async function programBefore(context: TestContext): Promise<Program | undefined> {
  const before = await versionBefore();
  if ("program" in before) return before.program;
  context.skip(before.missing);
  return undefined;
}

/** One operator makes a cluster, another one takes it over: what it writes while nobody wishes for anything. */
async function writesAfter(first: Program, second: Program): Promise<string[]> {
  const programOf = (number: number): Program => (number === 1 ? first : second);
  let writes: string[] = [];
  await TestWorld.runWithCluster({ nodes: 6, programOf }, async (world) => {
    await world.clock.advance(5 * minuteMs);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const mark = world.requests.length;
    world.world.startOperator();
    await world.clock.advance(15 * minuteMs);
    writes = world.writesSince(mark);
  });
  return writes;
}

test("[CR10] a cluster at rest is taken over from the version before, and given back, without a write", async (context) => {
  const before = await programBefore(context);
  if (before === undefined) return;
  assert.deepEqual(await writesAfter(before, runTerms), []);
  assert.deepEqual(await writesAfter(runTerms, before), []);
});

test("[CR10] an upgrade of a database that the version before has begun is ended by this one (long)", async (context) => {
  const before = await programBefore(context);
  if (before === undefined) return;
  const scenario = scenarios.find(({ name }) => name === "patch-upgrade");
  assert.ok(scenario !== undefined);
  const { end } = await runScenario(scenario);
  const { writes } = await runScenario(scenario, undefined, before);
  const write = Math.ceil(writes.length / 2);
  for (const moment of ["before", "after"] as const) {
    const whole = { writes, hasCrashed: false, end };
    const { name, failure } = await crashAt(scenario, whole, { write, moment }, before);
    assert.equal(failure, undefined, `crash ${moment} write ${write} (${name})`);
  }
});
