// How process groups without objects are included again and forgotten. Rules: spec/removal.md [R70]-[R77].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { actionsOf, emptied, locality, storages, waitOf } from "./removal-world.ts";
import type { RemovalWorld } from "./removal-world.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";

/** A world in which the objects of these process groups are gone. */
function gone(
  choose: (world: RemovalWorld) => string[],
  spec: Partial<ClusterSpec> = {},
): { world: RemovalWorld; ids: string[] } {
  const automationOptions = { removalMode: "All", ...spec.automationOptions } as const;
  const result = emptied(choose, { ...spec, automationOptions });
  result.world.pass();
  result.world.later(5);
  return result;
}

test("[R70] all that is gone is included in one command, however recent the last recovery is", () => {
  const { world, ids } = gone((each) => [...storages(2)(each), each.id("stateless")]);
  world.change = (status) => {
    if (status.cluster?.recovery_state) {
      status.cluster.recovery_state.seconds_since_last_recovered = 3;
    }
  };
  const plan = world.plan();
  const actions = actionsOf(plan, "includeProcesses");
  assert.equal(actions.length, 1);
  assert.deepEqual([...(actions[0]?.targets ?? [])].sort(), ids.map(locality).sort());
});

test("[R71] it leaves when a later status shows that nothing of it is excluded", () => {
  const { world, ids } = gone(storages(1));
  const [id = ""] = ids;
  const included = world.pass();
  assert.ok(world.ids().includes(id));
  assert.equal(included.isReconciled, false);
  world.lastWriteMs = world.nowMs + 1;
  assert.ok(world.plan().status.processGroups?.some((one) => one.processGroupID === id));
  world.lastWriteMs = 0;
  const plan = world.pass();
  assert.ok(!world.ids().includes(id));
  assert.equal(plan.isReconciled, true);
});

test("[R72] exclusions of zones, other groups and other addresses stay", () => {
  const { world, ids } = gone(storages(1));
  const others = [
    { locality: "locality_zoneid:zone-1" },
    { locality: "locality_instance_id:storage-0" },
    { address: "10.250.0.1" },
  ];
  world.exclusions.push(...others);
  const [action] = actionsOf(world.pass(), "includeProcesses");
  assert.deepEqual(action?.targets, ids.map(locality));
  world.later(5);
  world.pass();
  assert.deepEqual(world.exclusions, others);
});

test("[R72] locality and addresses of the group are both taken back", () => {
  const { world, ids } = gone(storages(1));
  const [address = ""] =
    world.groups().find((one) => one.processGroupID === ids[0])?.addresses ?? [];
  world.exclusions.push({ address }, { address: `${address}:4501` });
  const [action] = actionsOf(world.plan(), "includeProcesses");
  assert.deepEqual(action?.targets, [locality(ids[0] ?? ""), address, `${address}:4501`]);
});

test("[R73] an address that another process has by now is left alone", () => {
  const { world, ids } = gone(storages(1));
  const [id = ""] = ids;
  const stranger = world.groups("stateless")[0]?.addresses?.[0] ?? "";
  world.changeGroup(id, { addresses: [stranger] });
  world.exclusions.push({ address: stranger });
  const [action] = actionsOf(world.plan(), "includeProcesses");
  assert.deepEqual(action?.targets, [locality(id)]);
});

test("[R74] while the database sees its process the exclusion stays", () => {
  const { world, ids } = gone(storages(1));
  const [id = ""] = ids;
  world.change = (status) => {
    const [first] = Object.values(status.cluster?.processes ?? {});
    const zombie = { ...first, locality: { ...first?.locality, instance_id: id } };
    if (status.cluster?.processes) status.cluster.processes["zombie"] = zombie;
  };
  const plan = world.plan();
  assert.equal(actionsOf(plan, "includeProcesses").length, 0);
  assert.match(waitOf(plan, "InclusionPending"), new RegExp(`${id} are gone, but the database`));
  assert.equal(plan.isReconciled, false);
});

test("[R75] a process group of which nothing is excluded leaves without inclusion", () => {
  const { world, ids } = gone(storages(1));
  world.exclusions.length = 0;
  const plan = world.pass();
  assert.equal(actionsOf(plan, "includeProcesses").length, 0);
  assert.ok(!world.ids().includes(ids[0] ?? ""));
});

test("[R76] objects that are stuck in deletion do not keep the cluster from being reconciled", () => {
  const { world, ids } = emptied(storages(1));
  const name = `${world.podNameOf(ids[0] ?? "")}-data`;
  const claim = world.pvcs.get(name);
  assert.ok(claim !== undefined);
  world.pass();
  world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, deletionTimestamp } });
  world.later(5);
  assert.equal(world.pass().isReconciled, false, "it may still end within a minute");
  world.later(60);
  const plan = world.pass();
  assert.equal(plan.isReconciled, true);
  assert.equal(plan.status.generations?.["hasPendingRemoval"], 2);
  assert.deepEqual(
    world.exclusions,
    ids.map((id) => ({ locality: locality(id) })),
  );
});

test("[R77] many active generations hold an inclusion back", () => {
  const { world } = gone(storages(1));
  world.change = (status) => {
    if (status.cluster?.recovery_state) status.cluster.recovery_state.active_generations = 11;
  };
  assert.equal(actionsOf(world.plan(), "includeProcesses").length, 0);
  assert.match(waitOf(world.plan(), "InclusionPending"), /10 active generations/);
});
