// Tests of what belongs to a process group.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf, withGroups } from "./cluster-view.ts";

function settled(): { snapshot: Snapshot; world: PlanWorld } {
  const world = new PlanWorld({ routing: { publicIPSource: "service" } });
  world.settle(4);
  const names = [...world.pods.values()].map((pod) => pod.spec?.nodeName ?? "");
  const nodes = new Map(
    names.map((name) => [name, { apiVersion: "v1", kind: "Node", metadata: { name } }]),
  );
  return { snapshot: world.snapshot({ nodes }), world };
}

test("[P111] a process group has its pod, node, claim, service and processes", () => {
  const { snapshot, world } = settled();
  for (const group of world.cluster.status?.processGroups ?? []) {
    const id = group.processGroupID;
    const found = viewOf(snapshot).of(group);
    assert.equal(found.podName, `sample-${id}`);
    assert.equal(found.pod, world.pods.get(`sample-${id}`));
    assert.equal(found.shape?.servers, 1);
    assert.equal(found.node?.metadata.name, found.pod?.spec?.nodeName);
    assert.equal(found.claim, world.pvcs.get(`sample-${id}-data`));
    assert.equal(found.service, world.services.get(`sample-${id}`));
    assert.ok(found.service !== undefined && found.node !== undefined);
    assert.deepEqual(
      found.processes.map(({ locality }) => locality?.["instance_id"]),
      [id],
    );
  }
});

test("[P111] a process group without anything has a name for its pod and for its claim", () => {
  const { snapshot } = settled();
  const none = viewOf(snapshot).of({ processGroupID: "storage-99", processClass: "storage" });
  assert.equal(none.podName, "sample-storage-99");
  assert.equal(none.claimName, "sample-storage-99-data");
  assert.equal(none.pod ?? none.shape ?? none.node ?? none.claim ?? none.service, undefined);
  assert.deepEqual(none.processes, []);
});

test("[P111] it is joined once for a snapshot, also with other entries, and again for another one", () => {
  const { snapshot } = settled();
  const view = viewOf(snapshot);
  assert.equal(viewOf(snapshot), view);
  const fewer = withGroups(snapshot, []);
  assert.equal(viewOf(fewer), view);
  assert.deepEqual(fewer.cluster.status?.processGroups, []);
  const [group] = snapshot.cluster.status?.processGroups ?? [];
  assert.ok(group !== undefined);
  const without = { ...snapshot, pods: new Map() };
  assert.equal(viewOf(without).of(group).pod, undefined);
  assert.notEqual(view.of(group).pod, undefined);
});

test("[P111] an entry of the same id and another class has another pod", () => {
  const { snapshot } = settled();
  const view = viewOf(snapshot);
  const id = "dc1-log-storage-1";
  const names = ["log", "storage", "log"].map(
    (processClass) => view.of({ processGroupID: id, processClass }).podName,
  );
  assert.deepEqual(names, ["sample-log-storage-1", "sample-storage-1", "sample-log-storage-1"]);
});

test("[P111] what was found of a process group holds as long as its entry is the same", () => {
  const { snapshot } = settled();
  const [group] = snapshot.cluster.status?.processGroups ?? [];
  assert.ok(group !== undefined);
  let count = 0;
  const find = (): number => (count += 1);
  const own = viewOf(snapshot).of(group);
  assert.equal(own.finding(find, snapshot, group), 1);
  assert.equal(own.finding(find, snapshot, group), 1);
  assert.equal(own.finding(find, snapshot, { ...group }), 2);
});
