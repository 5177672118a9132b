// A person asks about the coordination sets, through the API server alone. Rules: spec/coordination.md [CO51], [CO54]-[CO58].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import {
  answerAnnotation,
  parseAnswer,
  requestAnnotation,
} from "../../src/api/coordination-request.ts";
import type {
  CoordinationAnswer,
  CoordinationRequest,
} from "../../src/api/coordination-request.ts";
import { answerText, askOperator, refusalText } from "../../src/cli/coordination.ts";
import { updateSets } from "../../src/fdb/coordination-sets.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { minuteMs, TestWorld, tiny } from "./world-harness.ts";

const key = { namespace: "default", name: "sample" };

function ask(
  world: TestWorld,
  request: Omit<CoordinationRequest, "id">,
): Promise<CoordinationAnswer> {
  const id = String(world.clock.nowMs());
  const asked = askOperator(world.client, world.clock, key, { id, ...request });
  return world.during(asked, minuteMs, "the answer");
}

/** What an instance that is gone has left. */
async function leaveBehind(world: TestWorld, prefix: string, id: string): Promise<void> {
  const { connectionString = "" } = (await world.cluster()).status ?? {};
  const admin = world.world.fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
  const updates = new Map([[id, { action: "add" } as const]]);
  const told = updateSets({ admin, keys: operatorKeys() }, prefix, { pendingForRestart: updates });
  await world.during(told, minuteMs, "an entry");
  admin.close();
}

const spec = { ...tiny, processGroupIDPrefix: "dc1" };

test("[CO54] [CO55] what is in the sets is shown, and what a lost instance left is taken out", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    assert.deepEqual((await ask(world, { verb: "show" })).entries, []);
    await leaveBehind(world, "dc9", "dc9-log-1");
    await leaveBehind(world, "dc90", "dc90-log-1");
    assert.deepEqual((await ask(world, { verb: "show" })).entries, [
      "pendingForRestart/dc9/dc9-log-1",
      "pendingForRestart/dc90/dc90-log-1",
    ]);
    const cleared = await ask(world, { verb: "clear", prefix: "dc9" });
    assert.deepEqual(cleared.entries, ["pendingForRestart/dc9/dc9-log-1"]);
    const left = (await ask(world, { verb: "show" })).entries;
    assert.deepEqual(left, ["pendingForRestart/dc90/dc90-log-1"]);
    const { annotations = {} } = (await world.cluster()).metadata;
    assert.equal(annotations[requestAnnotation], undefined);
    assert.equal(annotations[answerAnnotation], undefined);
  });
});

test("[CO56] entries of another instance whose processes live are not taken out, one's own are", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const [id = ""] = ((await world.cluster()).status?.processGroups ?? []).map(
      ({ processGroupID }) => processGroupID,
    );
    await leaveBehind(world, "renamed", id);
    const renamed = await ask(world, { verb: "clear", prefix: "renamed" });
    assert.match(renamed.problem ?? "", /processes of renamed live: .*--abandoned/);
    assert.deepEqual(renamed.entries, [`pendingForRestart/renamed/${id}`]);
    const abandoned = await ask(world, { verb: "clear", prefix: "renamed", isAbandoned: true });
    assert.match(abandoned.problem ?? "", /ask a resource in global mode/, "[CO68]");
    await leaveBehind(world, "dc1", id);
    const own = await ask(world, { verb: "clear", prefix: "dc1" });
    assert.deepEqual([own.problem, own.entries], [undefined, [`pendingForRestart/dc1/${id}`]]);
    assert.equal((await ask(world, { verb: "show" })).entries.length, 1);
  });
});

test("[CO57] a request is answered once, and what cannot be read is left alone", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const annotate = (text: string) =>
      world.client.patch(
        foundationDbClusters,
        key,
        { metadata: { annotations: { [requestAnnotation]: text } } },
        { type: "merge" },
      );
    for (const text of ["please", "{}", '{"id":"a","verb":"burn"}', '{"id":"a","verb":"clear"}']) {
      await annotate(text);
      await world.clock.advance(minuteMs);
      const { annotations } = (await world.cluster()).metadata;
      assert.equal(annotations?.[answerAnnotation], undefined, text);
    }
    await annotate('{"id":"a","verb":"show"}');
    await world.clock.advance(minuteMs);
    const { metadata } = await world.cluster();
    assert.equal(parseAnswer(metadata.annotations?.[answerAnnotation])?.id, "a");
    await world.clock.advance(5 * minuteMs);
    assert.equal((await world.cluster()).metadata.resourceVersion, metadata.resourceVersion);
  });
});

test("[CO58] without an operator the command says so and leaves nothing behind", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await assert.rejects(ask(world, { verb: "show" }), /no answer within 30 s/);
    const { annotations = {} } = (await world.cluster()).metadata;
    assert.equal(annotations[requestAnnotation], undefined);
    world.world.startOperator();
  });
});

test("[CO54] the answer as a person reads it", () => {
  const answer = { id: "", entries: ["pendingForRestart/dc9/dc9-log-1"], leftOut: 2 };
  const text = answerText("clear", answer, { output: "text", prefix: "dc9" });
  assert.equal(
    text,
    "Took 3 entries of dc9 out of the coordination sets.\n  pendingForRestart/dc9/dc9-log-1\nand 2 more\n",
  );
  assert.equal(
    refusalText(answer, "processes live"),
    "nothing is changed: processes live\n  pendingForRestart/dc9/dc9-log-1\nand 2 more",
  );
  const none = { id: "", entries: [], leftOut: 0 };
  assert.equal(answerText("show", none, { output: "text" }), "The coordination sets are empty.\n");
  assert.match(answerText("show", answer, { output: "json" }), /"leftOut": 2/);
});

test("[CO51] metrics tell the size and the age of each set", async () => {
  const global = { ...spec, automationOptions: { synchronizationMode: "global" as const } };
  await TestWorld.runWithCluster({ spec: global }, async (world) => {
    await leaveBehind(world, "dc9", "dc9-log-1");
    await world.clock.advance(10 * minuteMs);
    const lines = world.world.operator.metricsText().split("\n");
    const valueOf = (name: string, set: string): number =>
      Number(
        lines.find((one) => one.includes(`${name}{`) && one.includes(`"${set}"`))?.split(" ")[1],
      );
    assert.equal(valueOf("coordination_entries", "pendingForRestart"), 1);
    assert.equal(valueOf("coordination_entries", "readyForRestart"), 0);
    const age = valueOf("coordination_oldest_entry_seconds", "pendingForRestart");
    assert.ok(age > 500 && age <= 600, String(age));
    await world.changeSpec({ automationOptions: { synchronizationMode: "local" } });
    await world.clock.advance(minuteMs);
    assert.ok(!world.world.operator.metricsText().includes("coordination_entries{"));
  });
});
