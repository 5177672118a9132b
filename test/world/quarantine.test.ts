// Volumes of removed process groups that wait before they are deleted, and how they come back.
// Rules: spec/quarantine.md [QUA1]-[QUA11].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { automationOf } from "../../src/api/effective.ts";
import { quarantineAnnotation, quarantineLabel } from "../../src/build/quarantine.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { skewedClock } from "../../src/sim/skewed-clock.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { runPlugin } from "../plugin/plugin-harness.ts";
import { exampleCluster } from "./example.ts";
import { assertAllCopies, groups, untilSettled } from "./removal-harness.ts";
import { hourMs, minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";
const idLabel = "foundationdb.org/fdb-process-group-id";

type Options = NonNullable<ClusterSpec["automationOptions"]>;

test("[QUA1] the example asks for a day", () => {
  const { spec } = exampleCluster("quarantine.yaml");
  assert.equal(automationOf(spec).volumeQuarantineMs, 24 * hourMs);
});

/** A cluster with one storage process group too many, which has been removed: its id and its claim as it was. */
async function afterRemoval(
  options: Options,
  body: (
    world: TestWorld,
    removed: { id: string; claimName: string; uid: string },
  ) => Promise<void>,
  worldOptions: TestWorldOptions = {},
): Promise<void> {
  const spec = { ...exampleCluster("quarantine.yaml").spec, automationOptions: options };
  await TestWorld.runWithCluster({ nodes: 9, ...worldOptions, spec }, async (world) => {
    const before = await claims(world);
    await world.changeSpec({ processCounts: { storage: 3, log: 3, stateless: 3 } });
    await untilSettled(world);
    const left = new Set((await groups(world)).map(({ processGroupID }) => processGroupID));
    const [gone] = before.filter(({ metadata }) => !left.has(metadata.labels?.[idLabel] ?? ""));
    const { name: claimName = "", uid = "", labels } = gone?.metadata ?? {};
    await body(world, { id: labels?.[idLabel] ?? "", claimName, uid });
  });
}

async function claims(world: TestWorld) {
  return (await world.client.list(persistentVolumeClaims, { namespace })).items;
}

function find(world: TestWorld, name: string) {
  return world.client.find(persistentVolumeClaims, { namespace, name });
}

async function listed(world: TestWorld) {
  return (await world.cluster()).status?.quarantine ?? [];
}

function patchClaim(world: TestWorld, name: string, body: object) {
  return world.client.patch(persistentVolumeClaims, { namespace, name }, body, { type: "merge" });
}

async function warning(world: TestWorld): Promise<string> {
  return conditionIn((await world.cluster()).status, "Warning")?.message ?? "";
}

test("[QUA1] [QUA2] [QUA8] a removed volume is set aside, and nothing finds it by accident", async () => {
  await afterRemoval({ volumeQuarantine: "24h" }, async (world, { id, claimName, uid }) => {
    const claim = await find(world, claimName);
    assert.equal(claim?.metadata.uid, uid, "the same claim");
    assert.equal(claim?.metadata.ownerReferences, undefined, "nothing deletes it by owning it");
    assert.deepEqual(
      Object.keys(claim?.metadata.labels ?? {}).filter((key) => key !== quarantineLabel),
      [],
      "no label of the cluster",
    );
    const note = JSON.parse(claim?.metadata.annotations?.[quarantineAnnotation] ?? "{}");
    assert.equal(note.claim, uid);
    assert.equal(note.volume, claim?.spec?.volumeName);
    assert.equal(note.proof, "certificate");
    const [entry, ...others] = await listed(world);
    assert.deepEqual(others, []);
    assert.equal(entry?.volumeClaim, claimName);
    assert.equal(entry?.processGroupID, id);
    const untilMs = Date.parse(entry?.until ?? "") - Date.parse(entry?.since ?? "");
    assert.equal(untilMs, 24 * hourMs);
    assert.equal((await groups(world, "storage")).length, 3, "and none comes back by itself");
    await world.clock.advance(hourMs);
    assert.equal((await groups(world, "storage")).length, 3);
    await assertAllCopies(world);
  });
});

test("[QUA4] after its time it goes, by exactly its uid and version", async () => {
  await afterRemoval({ volumeQuarantine: "2h" }, async (world, { claimName, uid }) => {
    const writes = world.requests.length;
    await world.clock.advance(hourMs + 50 * minuteMs);
    assert.equal((await find(world, claimName))?.metadata.uid, uid, "not a minute too early");
    await world.clock.advance(20 * minuteMs);
    assert.equal(await find(world, claimName), undefined);
    assert.deepEqual(await listed(world), []);
    const deletions = world.requests
      .slice(writes)
      .filter(({ verb, resource }) => verb === "delete" && resource === persistentVolumeClaims);
    assert.equal(deletions.length, 1);
    assert.equal((await world.events("QuarantineOver")).length, 1);
    await world.untilReconciled();
    await assertAllCopies(world);
  });
});

test("[QUA1] a claim without the option is deleted at once, as before", async () => {
  await afterRemoval({}, async (world, { claimName }) => {
    assert.equal(await find(world, claimName), undefined);
  });
});

test("[QUA11] a volume comes back: its process group runs on it again", async () => {
  await afterRemoval({ volumeQuarantine: "24h" }, async (world, { id, claimName, uid }) => {
    const restore = ["quarantine", "restore", "-c", "sample"];
    const unknown = await runPlugin(world, [...restore, "storage-0", "--yes"]);
    assert.match(unknown.notes, /no volume storage-0 of sample waits in quarantine/);
    const dry = await runPlugin(world, [...restore, id, "--dry-run"]);
    assert.match(dry.out, /would be the volume of storage-\d+ again/);
    assert.equal((await listed(world)).length, 1, "and nothing was changed");
    await world.changeSpec({ processCounts: { storage: 4, log: 3, stateless: 3 } });
    // Whoever is quick gets the place of a new process group.
    const given = await runPlugin(world, [...restore, id], { answers: ["y"] });
    assert.equal(given.code, 0, given.notes);
    assert.match(given.notes, /throws away the old data on the volume/);
    await world.until(
      async () => (await groups(world)).some((group) => group.processGroupID === id),
      "the process group is back",
    );
    await untilSettled(world);
    const claim = await find(world, claimName);
    assert.equal(claim?.metadata.uid, uid);
    assert.equal(claim?.metadata.labels?.[idLabel], id);
    assert.equal(claim?.metadata.labels?.[quarantineLabel], undefined);
    assert.deepEqual(await listed(world), []);
    const pod = (await world.pods("storage")).find(
      ({ metadata }) => metadata.labels?.[idLabel] === id,
    );
    assert.equal(pod?.status?.phase, "Running");
    await assertAllCopies(world);
    const again = await runPlugin(world, [...restore, id, "--yes"]);
    assert.match(again.notes, /waits in quarantine/);
  });
});

test("[QUA10] [QUA11] the list shows what waits; what makes no sense is refused", async () => {
  await afterRemoval({ volumeQuarantine: "24h" }, async (world, { id, claimName }) => {
    const list = await runPlugin(world, ["quarantine", "list"]);
    assert.match(list.out, new RegExp(`${claimName}\\s+sample\\s+${id}`));
    const rows = JSON.parse((await runPlugin(world, ["quarantine", "list", "-o", "json"])).out);
    assert.equal(rows[0].processGroupID, id);
    assert.ok(Date.parse(rows[0].until) > world.clock.nowMs());
    const none = await runPlugin(world, ["quarantine", "list", "other"]);
    assert.match(none.out, /no volume waits in quarantine/);
    await world.changeSpec({ processGroupsToRemove: [id] });
    const restore = ["quarantine", "restore", "-c", "sample", claimName, "--yes"];
    const toGo = await runPlugin(world, restore);
    assert.equal(toGo.code, 1);
    assert.match(toGo.notes, /the resource asks for the removal of storage-\d+/);
    await world.changeSpec({ processGroupsToRemove: [] });
    const annotations = (await find(world, claimName))?.metadata.annotations ?? {};
    const note = JSON.parse(annotations[quarantineAnnotation] ?? "");
    const edited = JSON.stringify({ ...note, cluster: "another" });
    await patchClaim(world, claimName, {
      metadata: { annotations: { [quarantineAnnotation]: edited } },
    });
    const foreign = await runPlugin(world, restore);
    assert.match(foreign.notes, /it was taken from another resource of this name/);
  });
});

test("[QUA4] what was removed without proof stays for good, and the condition says so (long)", async () => {
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 4, log: 3, stateless: 3 },
    automationOptions: { volumeQuarantine: "1h" },
  };
  await TestWorld.runWithCluster({ nodes: 9, spec }, async (world) => {
    const [chosen] = await groups(world, "storage");
    const id = chosen?.processGroupID ?? "";
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    await world.until(
      async () => (await groups(world)).every((group) => group.processGroupID !== id),
      "it has left",
      30 * minuteMs,
    );
    await untilSettled(world);
    const [entry] = await listed(world);
    assert.match(entry?.kept ?? "", /removed without proof/);
    assert.equal(entry?.until, undefined);
    await world.clock.advance(3 * hourMs);
    assert.notEqual(await find(world, entry?.volumeClaim ?? ""), undefined);
    assert.match(await warning(world), /not deleted by themselves: .* without proof/);
    await world.client.delete(persistentVolumeClaims, {
      namespace,
      name: entry?.volumeClaim ?? "",
    });
    await world.until(async () => (await listed(world)).length === 0, "a person deleted it");
    await world.untilReconciled();
    assert.equal(await warning(world), "");
  });
});

test("[QUA4] a note that is not of this claim proves nothing (long)", async () => {
  await afterRemoval({ volumeQuarantine: "1h" }, async (world, { claimName }) => {
    const annotations = (await find(world, claimName))?.metadata.annotations ?? {};
    const note = JSON.parse(annotations[quarantineAnnotation] ?? "");
    for (const [text, why] of [
      [JSON.stringify({ ...note, claim: "copied" }), /its note is of another claim/],
      [JSON.stringify({ ...note, volume: "pv-2" }), /its note is of another volume/],
      ["{", /its note cannot be read/],
      [JSON.stringify({ ...note, since: "soon" }), /its note cannot be read/],
      // The status could not be written with these.
      [JSON.stringify({ ...note, seconds: 1e15 }), /its note cannot be read/],
      [JSON.stringify({ ...note, since: "1 Jan 2026" }), /its note cannot be read/],
      [JSON.stringify({ ...note, processGroupID: "s".repeat(64) }), /its note cannot be read/],
    ] as const) {
      const metadata = { annotations: { [quarantineAnnotation]: text } };
      await patchClaim(world, claimName, { metadata });
      await world.clock.advance(2 * hourMs);
      assert.notEqual(await find(world, claimName), undefined, String(why));
      assert.match((await listed(world))[0]?.kept ?? "", why);
    }
    const metadata = { annotations: { [quarantineAnnotation]: JSON.stringify(note) } };
    await patchClaim(world, claimName, { metadata });
    await world.clock.advance(5 * minuteMs);
    assert.equal(await find(world, claimName), undefined, "with its own it goes");
  });
});

test("[QUA4] a claim that a pod of somebody else uses stays until that is gone", async () => {
  await afterRemoval({ volumeQuarantine: "1h" }, async (world, { claimName }) => {
    const metadata = { namespace, name: "rescue" };
    await world.client.create(pods, {
      ...{ apiVersion: "v1", kind: "Pod", metadata },
      spec: {
        containers: [{ name: "main", image: "busybox" }],
        volumes: [{ name: "old", persistentVolumeClaim: { claimName } }],
      },
    });
    await world.clock.advance(2 * hourMs);
    assert.equal((await find(world, claimName))?.metadata.deletionTimestamp, undefined);
    assert.equal((await listed(world))[0]?.kept, "pod rescue uses it");
    assert.match(await warning(world), /pod rescue uses it/);
    const list = await runPlugin(world, ["quarantine", "list", "-o", "json"]);
    assert.equal(JSON.parse(list.out)[0].note, "kept: pod rescue uses it");
    await world.client.delete(pods, metadata);
    await world.clock.advance(5 * minuteMs);
    assert.equal(await find(world, claimName), undefined);
  });
});

test("[QUA6] a quarantine that is switched off or made shorter keeps its promise (long)", async () => {
  await afterRemoval({ volumeQuarantine: "4h" }, async (world, { claimName }) => {
    for (const volumeQuarantine of ["1m", "0"]) {
      await world.changeSpec({ automationOptions: { volumeQuarantine } });
      await world.clock.advance(hourMs);
      assert.notEqual(await find(world, claimName), undefined, volumeQuarantine);
    }
    await world.changeSpec({ automationOptions: { volumeQuarantine: "6h" } });
    await world.clock.advance(3 * hourMs);
    assert.notEqual(await find(world, claimName), undefined, "a longer one counts for all");
    await world.clock.advance(2 * hourMs);
    assert.equal(await find(world, claimName), undefined);
  });
});

test("[QUA3] labels that somebody gives it bring no process group to life", async () => {
  await afterRemoval({ volumeQuarantine: "24h" }, async (world, { id, claimName }) => {
    const labels = {
      [idLabel]: id,
      "foundationdb.org/fdb-process-class": "storage",
      "foundationdb.org/fdb-cluster-name": "sample",
    };
    await patchClaim(world, claimName, { metadata: { labels } });
    await world.clock.advance(10 * minuteMs);
    assert.ok((await groups(world)).every((group) => group.processGroupID !== id));
    // Nor does a status that was brought back from elsewhere get the old volume by its name.
    const cluster = await world.cluster();
    const processGroups = [
      ...(cluster.status?.processGroups ?? []),
      { processGroupID: id, processClass: "storage" },
    ];
    const status = { ...cluster.status, processGroups };
    await world.client.updateStatus(foundationDbClusters, { ...cluster, status });
    await world.until(async () => {
      const { status: now } = await world.cluster();
      return now?.blockedBy?.some(({ reason }) => reason === "VolumeInQuarantine") === true;
    }, "it says so");
    await world.clock.advance(10 * minuteMs);
    assert.ok((await world.pods()).every(({ metadata }) => metadata.labels?.[idLabel] !== id));
    await assertAllCopies(world);
  });
});

test("[QUA9] a cluster that is deleted leaves its quarantine, and its successor touches it not (long)", async () => {
  await afterRemoval({ volumeQuarantine: "1h" }, async (world, { claimName, uid }) => {
    const { spec } = await world.cluster();
    await world.client.delete(foundationDbClusters, { namespace, name: "sample" });
    await world.until(async () => (await claims(world)).length === 1, "all others are gone");
    const list = await runPlugin(world, ["quarantine", "list", "-o", "yaml"]);
    assert.match(list.out, /its cluster is gone: nothing deletes it/);
    await world.clock.advance(2 * hourMs);
    await world.createCluster(spec);
    await world.untilReconciled();
    await world.clock.advance(2 * hourMs);
    assert.equal((await find(world, claimName))?.metadata.uid, uid);
    assert.match((await listed(world))[0]?.kept ?? "", /another resource of this name/);
    assert.match(await warning(world), /None of them can be given back to this resource/);
  });
});

test("[QUA5] while the database is not well nothing is deleted (long)", async () => {
  await afterRemoval({ volumeQuarantine: "10m" }, async (world, { claimName }) => {
    const targets = (await groups(world, "log")).map(({ processGroupID }) => processGroupID);
    const crashLoopContainers = [{ containerName: "foundationdb", targets }];
    await world.changeSpec({ buggify: { crashLoopContainers } });
    const isDown = async (): Promise<boolean> =>
      (await world.cluster()).status?.health?.available === false;
    await world.until(isDown, "the database has no logs", 10 * minuteMs);
    await world.clock.advance(30 * minuteMs);
    assert.equal(await isDown(), true);
    assert.notEqual(await find(world, claimName), undefined);
    await world.changeSpec({ buggify: { crashLoopContainers: [] } });
    const isGone = async (): Promise<boolean> => (await find(world, claimName)) === undefined;
    await world.until(isGone, "it goes when the database is well", hourMs);
    assert.equal(await isDown(), false);
  });
});

test("[QUA7] a clock of the operator that steps ends no quarantine early (long)", async () => {
  const clock = new VirtualClock();
  const operatorClock = skewedClock(clock, { offsetMs: -hourMs, driftMsPerHour: 0 });
  await afterRemoval(
    { volumeQuarantine: "24h" },
    async (world, { claimName }) => {
      const [entry] = await listed(world);
      const sinceMs = Date.parse(entry?.since ?? "");
      assert.ok(world.clock.nowMs() - sinceMs < 10 * minuteMs, "it began by the server's clock");
      operatorClock.step(48 * hourMs);
      await world.clock.advance(3 * hourMs);
      assert.notEqual(await find(world, claimName), undefined);
      await world.clock.advance(20 * hourMs);
      assert.notEqual(await find(world, claimName), undefined);
      await world.clock.advance(2 * hourMs);
      assert.equal(await find(world, claimName), undefined, "and it ends at its time");
    },
    { clock, operatorClock },
  );
});

test("[QUA3] a claim that is deleted by hand leaves the list, and one that lost its mark is nobody's", async () => {
  await afterRemoval({ volumeQuarantine: "1h" }, async (world, { claimName }) => {
    await patchClaim(world, claimName, { metadata: { labels: { [quarantineLabel]: null } } });
    await world.until(async () => (await listed(world)).length === 0, "it is not listed");
    await world.clock.advance(2 * hourMs);
    assert.notEqual(await find(world, claimName), undefined, "nobody deletes it");
    assert.equal((await groups(world, "storage")).length, 3);
  });
});
