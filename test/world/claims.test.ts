// Claims that are deleted under a running database: what lies on them is about to be lost, and is not.
// Rules: spec/safety.md [S100]-[S108].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { nodes, persistentVolumeClaims, persistentVolumes, pods } from "../../src/kube/resource.ts";
import { frugalProcesses, keyOfObject, minuteMs, nameOf, TestWorld } from "./world-harness.ts";
import { assertAllCopies, assertNothingExcluded, groups, untilSettled } from "./removal-harness.ts";
import { pageOf } from "./stuck-case.ts";

const namespace = "default";
const counts = { storage: 3, log: 3, stateless: 3 };

type Automation = NonNullable<ClusterSpec["automationOptions"]>;

function specOf(
  mode: "single" | "double" | "triple",
  podUpdateStrategy: NonNullable<Automation["podUpdateStrategy"]>,
): Partial<ClusterSpec> {
  const processCounts = mode === "triple" ? { storage: 5, log: 5, stateless: 5 } : counts;
  return {
    databaseConfiguration: { redundancy_mode: mode },
    processCounts,
    automationOptions: { podUpdateStrategy },
  };
}

async function claims(world: TestWorld, processClass?: string) {
  const labelSelector =
    processClass === undefined
      ? "foundationdb.org/fdb-process-group-id"
      : `foundationdb.org/fdb-process-class=${processClass}`;
  return (await world.client.list(persistentVolumeClaims, { namespace, labelSelector })).items;
}

/** As `kubectl delete pvc -l … --wait=false` does. */
async function deleteClaims(world: TestWorld, processClass?: string): Promise<string[]> {
  const found = await claims(world, processClass);
  for (const claim of found) await world.client.delete(persistentVolumeClaims, keyOfObject(claim));
  return found.map(({ metadata }) => metadata.uid ?? "");
}

/** A pod template that asks for more. */
/** For pods that are to be made again. */
function moreCpu(): Partial<ClusterSpec> {
  const processes = structuredClone(frugalProcesses);
  for (const { resources } of processes?.["general"]?.podTemplate?.spec?.containers ?? []) {
    if (resources?.requests !== undefined) resources.requests["cpu"] = "60m";
  }
  return { processes: processes ?? {}, automationOptions: { podResourcesChange: "Recreate" } };
}

async function assertAsWanted(world: TestWorld, gone: readonly string[]): Promise<void> {
  await untilSettled(world, 60 * minuteMs);
  await assertAllCopies(world);
  await assertNothingExcluded(world);
  const left = await claims(world);
  assert.deepEqual(
    left.filter(({ metadata }) => gone.includes(metadata.uid ?? "")).map(nameOf),
    [],
    "none of the deleted claims is left",
  );
  assert.ok(left.every(({ metadata }) => metadata.deletionTimestamp === undefined));
  const cpu = (await world.pods()).map(
    (pod) => pod.spec?.containers[0]?.resources?.requests?.["cpu"],
  );
  assert.deepEqual([...new Set(cpu)], ["60m"], "every pod is as specified");
}

const lives: [Parameters<typeof specOf>[0], Parameters<typeof specOf>[1], string | undefined][] = [
  ["double", "Delete", "storage"],
  ["double", "ReplaceTransactionSystem", undefined],
  ["double", "Delete", "log"],
  ["single", "Delete", "storage"],
  ["single", "Replace", undefined],
  ["triple", "Delete", "storage"],
];
for (const [mode, strategy, processClass] of lives) {
  const whose = processClass === undefined ? "all claims" : `all claims of class ${processClass}`;
  test(`[S100] ${whose} are deleted and the pods change: nothing is lost (${mode}, ${strategy}) (long)`, async () => {
    const options = { spec: specOf(mode, strategy), nodes: 14 };
    await TestWorld.runWithCluster(options, async (world) => {
      const gone = await deleteClaims(world, processClass);
      await world.changeSpec(moreCpu());
      await assertAsWanted(world, gone);
    });
  });
}

test("[S100] the operator dies again and again while the claims are going: nothing is lost (long)", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 14 };
  await TestWorld.runWithCluster(options, async (world) => {
    const gone = await deleteClaims(world, "storage");
    await world.changeSpec(moreCpu());
    for (let count = 0; count < 20; count += 1) {
      await world.during(world.world.stopOperator(), minuteMs, "the end of an operator");
      world.world.startOperator();
      await world.clock.advance(7_000);
    }
    await assertAsWanted(world, gone);
  });
});

async function conditionOf(world: TestWorld, wanted: string) {
  const { status } = await world.cluster();
  return status?.conditions?.find(({ type }) => type === wanted);
}

test("[S101] [S102] a claim that is being deleted is a warning, is told, and its zone counts as down", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 9 };
  await TestWorld.runWithCluster(options, async (world) => {
    // There is no room for a successor, so that it lasts.
    for (const node of (await world.client.list(nodes, {})).items) {
      await world.client.update(nodes, { ...node, spec: { ...node.spec, unschedulable: true } });
    }
    const [claim] = await claims(world, "storage");
    const before = (await world.pods("storage")).map(({ metadata }) => metadata.uid);
    await world.client.delete(persistentVolumeClaims, keyOfObject(claim ?? { metadata: {} }));
    await world.changeSpec(moreCpu());
    await world.clock.advance(3 * minuteMs);
    const [event] = await world.events("ReplacingProcesses");
    assert.equal(event?.type, "Warning");
    assert.match(
      event?.message ?? "",
      /^Replacing storage-\d+: its volume claim is being deleted$/,
    );
    const degraded = await conditionOf(world, "Degraded");
    assert.deepEqual([degraded?.status, degraded?.reason], ["True", "VolumeAtRisk"]);
    assert.equal((await conditionOf(world, "Reconciled"))?.status, "False");
    const { status } = await world.cluster();
    const waits = (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`);
    assert.match(
      waits[0] ?? "",
      /^VolumeAtRisk: The volume claim sample-storage-\d+-data is being/,
    );
    assert.ok(
      waits.some((text) =>
        /^PodUpdateHeld.*the volume claim of storage-\d+ is being deleted/.test(text),
      ),
      waits.join("\n"),
    );
    const after = (await world.pods("storage")).map(({ metadata }) => metadata.uid);
    assert.deepEqual(
      before.filter((uid) => !after.includes(uid)),
      [],
      "no storage pod has gone",
    );
    assert.match(await pageOf(world), /is being deleted: its data is lost when its pod ends/);
    world.assertDataSafe();
  });
});

test("[S103] [S104] [S105] a process that comes back on another volume is a lost copy until its data is elsewhere", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 9 };
  await TestWorld.runWithCluster(options, async (world) => {
    const [group] = await groups(world, "storage");
    const id = group?.processGroupID ?? "";
    assert.ok(group?.volumeClaim !== undefined, "its claim is remembered");
    const [pod] = (await world.pods("storage")).filter((each) => nameOf(each).endsWith(id));
    const key = keyOfObject(pod ?? { metadata: {} });
    const claim = await world.client.get(persistentVolumeClaims, {
      namespace,
      name: `${key.name}-data`,
    });
    await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
    await world.client.delete(persistentVolumeClaims, keyOfObject(claim));
    await world.client.delete(pods, key);
    await world.clock.advance(minuteMs);
    // Somebody else, such as another operator, makes both again.
    const { labels = {}, annotations = {}, ownerReferences = [] } = claim.metadata;
    const { volumeName: _, ...spec } = claim.spec ?? {};
    const metadata = { name: nameOf(claim), namespace, labels, annotations, ownerReferences };
    await world.client.create(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec,
    });
    world.world.startOperator();
    let told = 0;
    await world.until(
      async () => {
        const left = (await groups(world)).find(({ processGroupID }) => processGroupID === id);
        const isProven = left?.exclusionTimestamp !== undefined;
        const degraded = await conditionOf(world, "Degraded");
        if (degraded?.reason === "VolumeLost") told += 1;
        if (left !== undefined && !isProven && told > 0)
          assert.equal(degraded?.reason, "VolumeLost");
        return left === undefined;
      },
      "the process group is replaced",
      30 * minuteMs,
    );
    assert.ok(told > 0);
    await untilSettled(world);
    await assertAllCopies(world);
    await assertNothingExcluded(world);
  });
});

test("[S106] a claim that is gone with its pod is not made again: the process group is replaced", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 9 };
  await TestWorld.runWithCluster(options, async (world) => {
    const [claim] = await claims(world, "storage");
    const name = nameOf(claim ?? { metadata: {} });
    await world.client.delete(persistentVolumeClaims, { namespace, name });
    await world.client.delete(pods, { namespace, name: name.replace(/-data$/, "") });
    await world.clock.advance(minuteMs);
    await untilSettled(world, 30 * minuteMs);
    assert.ok(!(await claims(world)).map(nameOf).includes(name));
    await assertAllCopies(world);
    await assertNothingExcluded(world);
  });
});

test("[S106] a claim that is taken away by force gets no empty successor under its running pod", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 9 };
  await TestWorld.runWithCluster(options, async (world) => {
    const [claim] = await claims(world, "storage");
    const key = keyOfObject(claim ?? { metadata: {} });
    await world.client.delete(persistentVolumeClaims, key);
    const patch = { metadata: { finalizers: null } };
    await world.client.patch(persistentVolumeClaims, key, patch, { type: "merge" });
    const mark = world.requests.length;
    await world.clock.advance(minuteMs);
    await untilSettled(world, 30 * minuteMs);
    const made = world
      .writesSince(mark)
      .filter((text) => text.startsWith("create persistentvolumeclaims"));
    assert.equal(made.length, 1, made.join("\n"));
    assert.ok(!made[0]?.endsWith(key.name), made[0]);
    await assertAllCopies(world);
    await assertNothingExcluded(world);
  });
});

test("[S104] [KUBELET78] a volume that is deleted by force is a lost copy, and its process group is replaced", async () => {
  const options = { spec: specOf("double", "Delete"), nodes: 9 };
  await TestWorld.runWithCluster(options, async (world) => {
    const [claim] = await claims(world, "storage");
    const name = claim?.spec?.volumeName ?? "";
    await world.client.delete(persistentVolumes, { name });
    const patch = { metadata: { finalizers: null } };
    await world.client.patch(persistentVolumes, { name }, patch, { type: "merge" });
    await world.until(
      async () => (await conditionOf(world, "Degraded"))?.reason === "VolumeLost",
      "the lost copy is told",
    );
    await untilSettled(world, 30 * minuteMs);
    assert.ok(!(await claims(world)).map(nameOf).includes(nameOf(claim ?? { metadata: {} })));
    await assertAllCopies(world);
    await assertNothingExcluded(world);
  });
});

test("[R102] a copy of a claim, with its labels, is left alone, whatever becomes of the process group", async () => {
  await TestWorld.runWithCluster({ spec: specOf("double", "Delete"), nodes: 9 }, async (world) => {
    const before = await groups(world, "storage");
    const copies: string[] = [];
    for (const claim of await claims(world, "storage")) {
      const name = `copy-of-${nameOf(claim)}`;
      const metadata = { name, namespace, labels: claim.metadata.labels ?? {} };
      const { accessModes, resources } = claim.spec ?? {};
      const spec = { ...(accessModes && { accessModes }), ...(resources && { resources }) };
      const copy = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec } as const;
      await world.client.create(persistentVolumeClaims, copy);
      copies.push(name);
    }
    await world.clock.advance(5 * minuteMs);
    await world.untilReconciled();
    assert.deepEqual(await groups(world, "storage"), before, "nobody is replaced");
    await world.changeSpec({ processGroupsToRemove: [before[0]?.processGroupID ?? ""] });
    await untilSettled(world);
    await assertAllCopies(world);
    const left = (await claims(world)).map(nameOf);
    assert.deepEqual(
      copies.filter((name) => !left.includes(name)),
      [],
    );
  });
});
