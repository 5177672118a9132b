// When coordinators count as moved, and what is said then. Rules: spec/restart.md [T80]-[T82].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import type { DatabaseObservation } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

const silent: DatabaseObservation = {
  kind: "missing",
  reason: "Unreachable",
  message: "timed out",
  sinceMs: 0,
};

function settled(useDNSInClusterFile = false): PlanWorld {
  const world = new PlanWorld({ routing: { useDNSInClusterFile } });
  assert.ok(world.settle().isReconciled);
  return world;
}

/** Gives the pods other addresses; those of `kept` stay. */
function move(world: PlanWorld, kept: ReadonlySet<string> = new Set()): void {
  for (const [name, pod] of world.pods) {
    if (kept.has(pod.status?.podIP ?? "")) continue;
    const podIP = (pod.status?.podIP ?? "").replace(/^\d+\./, "77.");
    world.pods.set(name, { ...pod, status: { ...pod.status, podIP, podIPs: [{ ip: podIP }] } });
  }
}

function told(world: PlanWorld): string {
  const wait = world
    .plan({ database: silent })
    .waits.find(({ reason }) => reason === "CoordinatorsMoved");
  return wait === undefined ? "" : `${wait.message} | ${wait.remedy}`;
}

const hosts = (world: PlanWorld): string[] =>
  coordinatorsOf(world.cluster.status?.connectionString ?? "").map((text) =>
    text.replace(/:\d+$/, ""),
  );

test("[T81] the new connection string has the new addresses, with the ports of the old ones", () => {
  const world = settled();
  const old = world.cluster.status?.connectionString ?? "";
  assert.equal(told(world), "");
  move(world);
  const text = told(world);
  assert.match(text, /^3 of 3 coordinators are named by addresses that no pod has any more: /);
  const [, next = ""] = /echo (\S+) >/.exec(text) ?? [];
  assert.equal(next, old.replaceAll(/(?<=[@,])\d+\./g, "77."));
  assert.ok(text.includes(`{"status":{"connectionString":"${next}"}}`));
  assert.match(text, /names \(.*\), which wait for a change of the IP family to end\.$/);
});

test("[T82] coordinators that keep a majority of their addresses have not moved", () => {
  const world = settled();
  const [first = "", second = ""] = hosts(world);
  move(world, new Set([first, second]));
  assert.equal(told(world), "");
});

test("[T82] a minority that is where it was stays in the new connection string", () => {
  const world = settled();
  const [first = ""] = hosts(world);
  move(world, new Set([first]));
  assert.match(told(world), /^2 of 3 coordinators/);
  assert.ok(/echo (\S+) >/.exec(told(world))?.[1]?.includes(`@${first}:`));
});

test("[T82] coordinators with names have not moved", () => {
  const world = settled(true);
  move(world);
  assert.equal(told(world), "");
});

test("[T82] a coordinator on another volume than before has not moved", () => {
  const world = settled();
  const lost = new Set(hosts(world).slice(0, 2));
  for (const pod of world.pods.values()) {
    if (!lost.has(pod.status?.podIP ?? "")) continue;
    const name = `${pod.metadata.name}-data`;
    const claim = world.pvcs.get(name);
    assert.ok(claim !== undefined);
    world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, uid: "another" } });
  }
  move(world);
  assert.equal(told(world), "");
});

test("[T80] the address of a coordinator is kept while the connection string names it", () => {
  const world = settled();
  const [first = ""] = hosts(world);
  move(world);
  const { status } = world.plan();
  const owner = status.processGroups?.find(({ addresses }) => addresses?.includes(first));
  assert.equal(owner?.addresses?.length, 2);
});
