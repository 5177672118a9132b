// Successors whose logical fault domain no node takes, while those that are to go are on all of them.
// Rules: spec/packing.md [PACK48], [PACK49].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { returnsToDomain } from "../../src/plan/placement/waiting-for-host.ts";
import { actionsOf, locality, removalIds, RemovalWorld, waitOf } from "./removal-world.ts";

const noHost = "0/5 nodes are available: 5 node(s) didn't match pod anti-affinity rules.";

interface Scene {
  world: RemovalWorld;
  old: readonly string[];
  /** The successors in the domain that no node takes. */
  waiting: readonly string[];
}

/**
 * In triple mode all get another prefix at once. The successors of storage come up in two of their three domains, and the old
 * ones are on these hosts.
 */
function withoutHost(hosts: readonly string[], message = noHost): Scene {
  const world = RemovalWorld.settled({
    processCounts: { storage: hosts.length, log: 6, stateless: 3 },
    databaseConfiguration: { redundancy_mode: "triple" },
    distributionConfig: { enabled: true, desiredFaultDomains: 3 },
    automationOptions: {
      maxConcurrentReplacements: 100,
      replacements: { failureDetectionTimeSeconds: 60, maxConcurrentReplacements: 100 },
    },
  });
  const old = world.ids("storage");
  for (const [index, id] of old.entries()) place(world, id, hosts[index] ?? "");
  world.changeSpec({ processGroupIDPrefix: "west" });
  world.pass();
  const isWaiting = (key: string | undefined): boolean => key === "west-storage-2";
  const waiting = world
    .groups("storage")
    .flatMap((group) => (isWaiting(group.distributionKey) ? group.processGroupID : []));
  assert.equal(waiting.length, hosts.length / 3);
  const names = new Set(waiting.map((id) => podNameOf(world, id)));
  world.runPods((pod) => !names.has(pod.metadata.name ?? ""));
  for (const name of names) {
    const conditions = [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message },
    ];
    world.changeObject(world.pods, name, { status: { phase: "Pending", conditions } });
  }
  world.pass();
  return { world, old, waiting };
}

function podNameOf(world: RemovalWorld, id: string): string {
  return world.podNameOf(id.replace(/^west-/, ""));
}

function place(world: RemovalWorld, id: string, nodeName: string): void {
  const name = podNameOf(world, id);
  const pod = world.pods.get(name);
  if (pod?.spec === undefined) throw new Error(`no pod ${name}`);
  world.changeObject(world.pods, name, { spec: { ...pod.spec, nodeName } });
}

/** Storage alone: logs of another prefix go as they always do. */
function excluded({ world, old }: Scene): string[] {
  const targets = actionsOf(world.plan(), "excludeProcesses").flatMap((action) => action.targets);
  return old.filter((id) => targets.includes(locality(id)));
}

test("[PACK49] those of one host are excluded, so that it takes the domain that waits", () => {
  const scene = withoutHost(["a", "a", "a", "b", "b", "c"]);
  const { world, old } = scene;
  assert.deepEqual(excluded(scene), [], "the successors may come up");
  world.later(400);
  assert.deepEqual(excluded(scene), old.slice(5));
  assert.match(waitOf(world.plan(), "ExclusionPostponed"), /left in 2 zones, and triple needs 3/);
  world.pass();
  world.later(400);
  assert.deepEqual(excluded(scene), [], "the next host only when this one is free");
});

test("[PACK49] not a host that somebody who stays is on", () => {
  const scene = withoutHost(["a", "a", "a", "b", "b", "c"]);
  const { world, old } = scene;
  const up = world
    .groups("storage")
    .find(({ distributionKey }) => distributionKey === "west-storage-0");
  place(world, up?.processGroupID ?? "", "c");
  world.later(400);
  assert.deepEqual(excluded(scene), old.slice(3, 5));
});

test("[PACK49] nobody goes while somebody may come up who waits for no host, or no zones would be left", () => {
  const [silent, calm] = [withoutHost(["a", "b", "c"]), withoutHost(["a", "b", "c"])];
  const isOther = (key: string | undefined): boolean => key === "west-storage-1";
  const other = silent.world.groups("storage").find((group) => isOther(group.distributionKey));
  silent.world.silent.add(other?.processGroupID ?? "");
  silent.world.condition(other?.processGroupID ?? "", "MissingProcesses", 30);
  for (const { world } of [silent, calm]) world.later(400);
  assert.equal(excluded(calm).length, 1);
  const one = withoutHost(["a", "a", "a", "a", "a", "a"]);
  one.world.later(400);
  const elsewhere = withoutHost(["a", "a", "a", "b", "b", "c"], "5 Insufficient cpu");
  elsewhere.world.later(20);
  for (const scene of [silent, one, elsewhere]) assert.deepEqual(excluded(scene), []);
});

test("[PACK48] who waits for a host is not replaced as failed by one that waits for the same", () => {
  const { world, waiting } = withoutHost(["a", "a", "a", "b", "b", "c"]);
  for (let round = 0; round < 3; round += 1) {
    world.later(7200);
    const replaced = removalIds(world.pass());
    assert.deepEqual(
      waiting.filter((id) => replaced.includes(id)),
      [],
    );
  }
  const volume = `${noHost.slice(0, -1)}, 1 node(s) had volume node affinity conflict.`;
  const bound = withoutHost(["a", "a", "a", "b", "b", "c"], volume);
  bound.world.later(7200);
  const plan = bound.world.plan();
  const told = [...removalIds(plan), waitOf(plan, "ReplacementLimited")].join(" ");
  assert.match(told, new RegExp(bound.waiting[0] ?? ""), "another volume may lie elsewhere");
});

test("[PACK48] who would find another domain is replaced", () => {
  const spec: ClusterSpec = {
    version: "7.3.63",
    distributionConfig: { enabled: true, desiredFaultDomains: 3 },
  };
  const groupOf = (id: number, domain: number, hall?: string) => ({
    processGroupID: `storage-${id}`,
    processClass: "storage",
    distributionKey: `storage-${domain}`,
    ...(hall === undefined ? {} : { hall }),
  });
  const even = [groupOf(1, 0), groupOf(2, 1), groupOf(3, 2)];
  const own = groupOf(4, 1);
  assert.equal(returnsToDomain(spec, [...even.toSpliced(1, 1), own], own), true);
  assert.equal(returnsToDomain(spec, [...even, own], own), false, "the first domain takes it");
  const inHall = groupOf(5, 1, "a");
  assert.equal(returnsToDomain(spec, [inHall], inHall), false, "another hall may take it");
});
