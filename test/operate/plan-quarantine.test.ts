// Ids whose volumes wait in quarantine, and volumes that stay there. Rules: spec/quarantine.md [QUA3], [QUA4].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { quarantineLabel, quarantinePatch } from "../../src/build/quarantine.ts";
import type { PersistentVolumeClaim } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { planCluster } from "../../src/plan/chain.ts";
import type { Plan } from "../../src/plan/chain.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld, startMs } from "./plan-world.ts";

const hourMs = 3_600_000;

/** A cluster at rest. */
function settled(): PlanWorld {
  const world = new PlanWorld({
    processCounts: { storage: 1, log: 1, stateless: 1 },
    databaseConfiguration: { redundancy_mode: "single" },
  });
  assert.ok(world.settle().isReconciled);
  return world;
}

function idsOf(plan: Plan): string[] {
  return (plan.status.processGroups ?? []).map((group) => group.processGroupID);
}

/** A claim of a process group that was removed so long ago. */
function aside(
  { cluster }: Snapshot,
  name: string,
  processGroupID: string,
  agoMs = 0,
): Stored<PersistentVolumeClaim> {
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, uid: `uid-${name}`, resourceVersion: "1" },
    spec: { volumeName: "pv-1" },
  };
  const proof = "certificate" as const;
  const owner = { ...cluster, apiVersion: "v1", kind: "FoundationDBCluster" };
  const order = { cluster: owner, processGroupID, processClass: "storage", proof, seconds: 3_600 };
  const { annotations } = quarantinePatch(claim, order, startMs - agoMs).metadata;
  const noted = Object.fromEntries(
    Object.entries(annotations).map(([key, text]) => [key, text ?? ""]),
  );
  const labels = { [quarantineLabel]: "sample" };
  return { ...claim, metadata: { ...claim.metadata, labels, annotations: noted } };
}

test("[QUA3] an id whose volume waits is not drawn, whether its claim or its note has it", () => {
  const world = settled();
  world.changeSpec({ processCounts: { storage: 2, log: 1, stateless: 1 } });
  const snapshot = world.snapshot();
  const known = new Set(world.cluster.status?.processGroups?.map((group) => group.processGroupID));
  const drawn = idsOf(planCluster(snapshot));
  const [id = ""] = drawn.filter((one) => !known.has(one));
  for (const claim of [
    aside(snapshot, `sample-${id}-data`, "storage-0"),
    aside(snapshot, "by-hand", id),
  ]) {
    const quarantined = new Map([[claim.metadata.name ?? "", claim]]);
    const again = idsOf(planCluster({ ...snapshot, quarantined }));
    assert.ok(!again.includes(id), claim.metadata.name);
    assert.equal(again.length, drawn.length);
  }
});

test("[QUA4] what is not over stays, and so does what its note does not prove", () => {
  const snapshot = settled().snapshot();
  const planned = (claim: Stored<PersistentVolumeClaim>): Plan => {
    const quarantined = new Map([[claim.metadata.name ?? "", claim]]);
    return planCluster({ ...snapshot, quarantined });
  };
  const young = planned(aside(snapshot, "a", "storage-0"));
  assert.deepEqual(young.actions, []);
  assert.equal(young.isReconciled, true, "a volume that waits is no work left to do");
  assert.equal(young.status.quarantine?.[0]?.processGroupID, "storage-0");
  const copied = aside(snapshot, "a", "storage-0", 2 * hourMs);
  const other = planned({ ...copied, metadata: { ...copied.metadata, uid: "copy" } });
  assert.deepEqual(other.actions, []);
  const warning = other.status.conditions?.find(({ type }) => type === "Warning");
  assert.equal(warning?.reason, "QuarantineKept");
  // The command would refuse it.
  assert.doesNotMatch(warning?.message ?? "", /quarantine restore/);
  assert.match(warning?.message ?? "", /None of them can be given back to this resource/);
});
