// The database begins to tell its status in a shape that the operator does not know: the operator says so, does nothing
// disruptive, and goes on when it ends. Rules: spec/safety.md [S142], spec/explain.md [E60].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import { person, spreadOver, untilSettled } from "./removal-harness.ts";
import { withAdmin } from "./with-admin.ts";

/** Every status of the operator's clients passes `change`. */
function withStatus(change: (status: DatabaseStatus) => unknown): ReturnType<typeof withAdmin> {
  return withAdmin((client) => ({
    status: async (timeoutMs) =>
      change(structuredClone(await client.status(timeoutMs))) as DatabaseStatus,
  }));
}

/** A process that is null, an address that is no text, roles and messages that are no lists. */
function damage(status: DatabaseStatus): unknown {
  const { processes = {} } = status.cluster ?? {};
  const [first = "", second = "", third = "", fourth = ""] = Object.keys(processes).sort();
  Reflect.set(processes, first, null);
  Reflect.set(processes[second] ?? {}, "address", 4501);
  Reflect.set(processes[third] ?? {}, "roles", { storage: true });
  Reflect.set(processes[fourth] ?? {}, "messages", "none");
  return status;
}

const counts = { storage: 4, log: 3, stateless: 3 };

const marked = {
  processes: {
    storage: {
      podTemplate: {
        spec: { containers: [{ name: "foundationdb", env: [{ name: "MARK", value: "new" }] }] },
      },
    },
  },
};

async function conditionOf(world: TestWorld, type: string): Promise<string> {
  const { status } = await world.cluster();
  const found = conditionIn(status, type);
  return found === undefined ? "" : `${found.status} ${found.reason}: ${found.message}`;
}

async function uids(world: TestWorld): Promise<string[]> {
  return (await world.pods()).map((pod) => pod.metadata.uid ?? "").sort();
}

test("[E60] parts of the status that cannot be read are named, and nothing disruptive is done (long)", async () => {
  let isDamaged = false;
  const wrapAdmin = withStatus((status) => (isDamaged ? damage(status) : status));
  await TestWorld.runWithCluster({ ...spreadOver(counts), wrapAdmin }, async (world) => {
    await world.clock.advance(10 * minuteMs);
    const before = await uids(world);
    isDamaged = true;
    await world.clock.advance(2 * minuteMs);
    assert.match(await conditionOf(world, "Available"), /^True/);
    assert.match(await conditionOf(world, "Reconciled"), /^False StatusUnreadable/);
    await world.changeSpec({ processCounts: { ...counts, storage: 3 }, ...marked });
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await uids(world), before);
    assert.deepEqual(await person(world, (client) => client.excluded(10_000)), []);
    assert.match(await conditionOf(world, "Warning"), /^True StatusUnreadable: .*cluster\.proc/);
    assert.match(await conditionOf(world, "Degraded"), /^Unknown StatusUnreadable/);
    const { status } = await world.cluster();
    assert.equal(status?.blockedBy?.[0]?.reason, "StatusUnreadable");
    assert.deepEqual(
      status?.processGroups
        ?.flatMap((each) => each.processGroupConditions ?? [])
        .filter(({ type }) => type === "MissingProcesses"),
      [],
    );
    assert.equal((await world.events("StatusUnreadable")).length, 1);
    isDamaged = false;
    await untilSettled(world);
    assert.equal(await conditionOf(world, "Warning"), "");
    assert.equal((await world.pods("storage")).length, 3);
    world.assertDataSafe();
  });
});

test("[DB39] a status without anything of use is that of a database which does not answer (long)", async () => {
  let isDamaged = false;
  const wrapAdmin = withStatus((status) => (isDamaged ? { ...status, client: [] } : status));
  await TestWorld.runWithCluster({ ...spreadOver(counts), wrapAdmin }, async (world) => {
    await world.clock.advance(10 * minuteMs);
    const before = await uids(world);
    isDamaged = true;
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(marked);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await uids(world), before);
    assert.match(
      await conditionOf(world, "Available"),
      /^Unknown StatusMissing: The database does not answer: client in its status has a shape/,
    );
    isDamaged = false;
    await untilSettled(world);
    assert.match(await conditionOf(world, "Available"), /^True/);
    world.assertDataSafe();
  });
});
