// Drills, decision by decision. Rules: spec/backup.md [BK160]-[BK171].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  backupWith,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";
import type { BackupSpec, BackupStatus, Drill } from "../../api/backup.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { FoundationDBRestore, RestoreStatus } from "../../api/restore.ts";
import { checkPod, drillCluster, drillNameOf, drillRestore } from "../../build/drill.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { differenceOf, roomFor } from "./drill-verdict.ts";
import type { BackupSnapshot, DrillObjects, DrillTrouble } from "./snapshot.ts";

const verification: NonNullable<BackupSpec["verification"]> = {
  schedule: { cron: "0 8 * * *" },
  template: { spec: { processCounts: { storage: 1, log: 1, stateless: 1 } } },
};
const minuteMs = 60_000;
const known = { cron: "0 8 * * *", timeZone: "UTC", since: formatTime(nowMs - 7 * 86_400_000) };
const time = formatTime(nowMs);
const spec = { verification };
const name = drillNameOf(backupWith(spec), time);
const source = { keys: 1000, bytes: 50_000 };

function drillAt(phase: Drill["phase"], change: Partial<Drill> = {}): Drill {
  return { time, name, began: formatTime(nowMs - 10 * minuteMs), phase, ...change };
}

/** A backup with a drill under way. */
function sceneWith(
  drill: Drill | undefined,
  objects: Partial<DrillObjects> = {},
  change: Partial<BackupSnapshot> = {},
  more: Partial<BackupSpec> = {},
): BackupSnapshot {
  const status: BackupStatus = { verification: known, ...(drill === undefined ? {} : { drill }) };
  return sceneOf({
    backup: backupWith({ ...spec, ...more }, status),
    drillObjects: { clusters: [], restores: [], pods: [], troubles: [], ...objects },
    ...change,
  });
}

/** What a plan does for drills, and the phase that the drill is in then. */
function gistOf(scene: BackupSnapshot): {
  does: string[];
  phase: string | undefined;
  waits: string[];
  result: string | undefined;
} {
  const { actions, status, waits } = planBackup(scene);
  return {
    does: actions.map(({ type }) => type),
    phase: status.drill?.phase,
    waits: waits.map(({ reason }) => reason),
    result: status.lastVerification?.result,
  };
}

const meta = { uid: "x-1", resourceVersion: "3", creationTimestamp: formatTime(nowMs) };

function clusterWith(status: FoundationDBCluster["status"] = {}): Stored<FoundationDBCluster> {
  const made = drillCluster(backupWith(spec), name, "7.3.63");
  return { ...made, metadata: { ...made.metadata, ...meta }, status };
}

function restoreWith(status: RestoreStatus = {}): Stored<FoundationDBRestore> {
  const made = drillRestore(backupWith(spec), name);
  return { ...made, metadata: { ...made.metadata, ...meta }, status };
}

const up = clusterWith({ configured: true, health: { available: true } });
const done = restoreWith({
  ...{ running: true, state: "completed", endTime: time, tag: "t" },
  target: { version: 99 },
});

function troubles(
  concern: DrillTrouble["concern"],
  minutes: number,
  reason = "RestoreErrors",
): DrillTrouble[] {
  const since = formatTime(nowMs - minutes * minuteMs);
  return [{ uid: meta.uid, reason, message: "it says why", since, concern }];
}

test("[BK160] a drill that is due is noted before anything is done for it, and a new line makes up for nothing", () => {
  const due = planBackup(sceneWith(undefined));
  assert.deepEqual(due.status.drill, { time, name, began: time, phase: "Preparing" });
  assert.deepEqual(due.actions, []);
  assert.deepEqual(due.figures, { purpose: `${name} source`, clusterName: "sample" });
  assert.equal(due.events[0]?.reason, "BackupDrillStarted");
  assert.equal(due.status.verification?.next, "2026-11-17T08:00:00Z");
  assert.ok(due.isReconciled, "a drill is no change of the backup");
  const fresh = planBackup(sceneOf({ backup: backupWith(spec) }));
  assert.equal(fresh.status.drill, undefined);
  assert.equal(fresh.status.verification?.since, time);
  const met = { time, result: "Passed" as const };
  const again = backupWith(spec, { verification: known, lastVerification: met });
  assert.equal(
    planBackup(sceneOf({ backup: again })).status.drill,
    undefined,
    "once for each time",
  );
});

test("[BK161] a drill that would tell nothing is skipped, and its reason is said", () => {
  const skippedOf = (change: Partial<BackupSnapshot>, more: Partial<BackupSpec> = {}) => {
    const { status, events, actions } = planBackup(sceneWith(undefined, {}, change, more));
    assert.equal(status.drill, undefined);
    assert.ok(!actions.some(({ type }) => type === "createCluster"));
    assert.ok(
      events.some(({ reason, type }) => reason === "BackupDrillSkipped" && type === "Warning"),
    );
    return status.verification?.skipped;
  };
  assert.deepEqual(skippedOf({}, { backupState: "Stopped" }), {
    ...{ time, message: "spec.backupState is Stopped", count: 1 },
  });
  const paused = seen(recordWith(), { isPaused: true });
  assert.equal(skippedOf(paused)?.message, "all agents of the database are paused");
  const nothingYet = seen(recordWith({ restorableTo: undefined } as never));
  assert.equal(skippedOf(nothingYet)?.message, "there is no point yet that can be restored");
  const unread = { layer: { kind: "missing", reason: "Unreachable", message: "" } } as const;
  const soon = planBackup(sceneWith(undefined, {}, unread)).status;
  assert.deepEqual([soon.drill, soon.verification?.skipped], [undefined, undefined]);
  const later = { ...unread, nowMs: nowMs + 16 * 60_000 };
  assert.equal(skippedOf(later)?.message, "the database of sample cannot be read");
  const late = seen(recordWith(), {
    times: [{ seconds: nowMs / 1000 - 3600, version: 99_000_000 }],
  });
  const layerBefore = late.layer.kind === "seen" ? late.layer : undefined;
  assert.equal(skippedOf({ ...late, layerBefore })?.message, "the backup is behind");
});

test("[BK161][BK169] three skipped drills in a row are a condition, and the next drill begins the count anew", () => {
  const skipped = { time: "2026-11-15T08:00:00Z", message: "spec.backupState is Paused", count: 3 };
  const lastVerification = { time: "2026-11-12T08:00:00Z", result: "Passed" as const };
  const status: BackupStatus = { verification: { ...known, skipped }, lastVerification };
  const before = { ...sceneOf({ backup: backupWith(spec, status) }), nowMs: nowMs - minuteMs };
  const condition = planBackup(before).status.conditions?.find(({ type }) => type === "Verified");
  assert.equal(`${condition?.status} ${condition?.reason}`, "False Skipped");
  const { status: next } = planBackup(sceneOf({ backup: backupWith(spec, status) }));
  assert.equal(next.drill?.phase, "Preparing");
  assert.equal(next.verification?.skipped, undefined);
});

test("[BK162][BK163] the cluster is made when the source was measured and the volumes have room", () => {
  const figures = { purpose: `${name} source`, figures: { ...source, isEstimated: false } };
  const ready = sceneWith(drillAt("Preparing"), {}, { figures });
  assert.deepEqual(gistOf(ready), {
    ...{ does: ["createCluster"], phase: "Creating", waits: [], result: undefined },
  });
  assert.deepEqual(planBackup(ready).status.drill?.source, source);
  const huge = { ...figures, figures: { keys: 9, bytes: 1e12, isEstimated: true } };
  const small = sceneWith(drillAt("Preparing"), {}, { figures: huge });
  assert.deepEqual(gistOf(small).waits, ["BackupDrillTooSmall"]);
  assert.deepEqual(gistOf(small).does, []);
  const other = { ...figures, purpose: "of another drill" };
  assert.deepEqual(gistOf(sceneWith(drillAt("Preparing"), {}, { figures: other })).does, []);
});

test("[BK162] it is a cluster of the backup's own, of the version that the source runs unless the template names one", () => {
  const backup = backupWith(spec, {}, { labels: { team: "a" } });
  const cluster = drillCluster(backup, name, "7.3.79");
  assert.match(name, /^drill-nightly-[0-9a-f]{8}$/);
  assert.deepEqual(cluster.metadata.labels, { team: "a", "foundationdb.org/backup-drill": name });
  assert.equal(cluster.metadata.ownerReferences?.[0]?.uid, "b-1");
  assert.equal(cluster.metadata.namespace, "ns");
  assert.equal(cluster.spec.version, "7.3.79");
  const named = { ...verification, template: { spec: { version: "7.4.5" } } };
  assert.equal(
    drillCluster(backupWith({ verification: named }), name, "7.3.79").spec.version,
    "7.4.5",
  );
  const long = drillNameOf(backupWith({}, {}, { name: `9.${"x".repeat(200)}` }), time);
  assert.ok(long.length <= 35 && /^[a-z][a-z0-9-]*$/.test(long), long);
});

test("[BK163] a restore needs twice the bytes in all copies, and volumes are 128G without a word", () => {
  const sized = (storage: string, count: number, mode: "single" | "double") =>
    roomFor(
      {
        version: "7.3.63",
        processCounts: { storage: count },
        databaseConfiguration: { redundancy_mode: mode },
        processes: {
          storage: {
            volumeClaimTemplate: { metadata: {}, spec: { resources: { requests: { storage } } } },
          },
        },
      },
      { keys: 1, bytes: 1_000 },
    );
  assert.deepEqual(sized("2k", 3, "double"), { bytes: 6_000, needed: 4_000 });
  assert.deepEqual(sized("1Ki", 1, "single"), { bytes: 1_024, needed: 2_000 });
  const bare = roomFor({ version: "7.3.63", processCounts: { storage: 2 } }, { keys: 1, bytes: 1 });
  assert.equal(bare.bytes, 256_000_000_000);
});

test("[BK164] the restore follows when the cluster serves, and is followed to its end", () => {
  const table: [Drill["phase"], Partial<DrillObjects>, string[], string | undefined][] = [
    ["Creating", {}, ["createCluster"], "Creating"],
    ["Creating", { clusters: [clusterWith()] }, [], "Creating"],
    ["Creating", { clusters: [up] }, ["createRestore"], "Restoring"],
    ["Restoring", { clusters: [up] }, ["createRestore"], "Restoring"],
    ["Restoring", { clusters: [up], restores: [restoreWith()] }, [], "Restoring"],
    ["Restoring", { clusters: [up], restores: [done] }, [], "Comparing"],
  ];
  for (const [phase, objects, does, next] of table) {
    const gist = gistOf(sceneWith(drillAt(phase, { source }), objects));
    assert.deepEqual([gist.does, gist.phase], [does, next]);
    assert.equal(gist.result, undefined);
  }
  const { spec: made } = drillRestore(backupWith(spec), name);
  assert.deepEqual(made, {
    ...{ destinationClusterName: name, fromBackup: "nightly", to: { latest: true } },
  });
});

test("[BK166] a copy may differ by a quarter or a hundred keys; an empty one never passes", () => {
  const continuous = backupWith();
  const once = backupWith({ backupMode: "oneTime" });
  const from = (keys: number, bytes: number) => ({ keys, bytes });
  const table: [typeof continuous, [number, number], [number, number], boolean][] = [
    [continuous, [1000, 1e6], [1000, 1e6], true],
    [continuous, [1000, 1e6], [760, 8e5], true],
    [continuous, [1000, 1e6], [740, 1e6], false],
    [continuous, [1000, 1e6], [1260, 1e6], false],
    [continuous, [1000, 1e6], [1000, 7e5], false],
    [continuous, [50, 500], [140, 1400], true],
    [continuous, [5, 50], [0, 0], false],
    [continuous, [0, 0], [0, 0], true],
    [once, [1000, 1e6], [10, 100], true],
    [once, [1000, 1e6], [0, 0], false],
  ];
  for (const [backup, had, found, isGood] of table) {
    const text = differenceOf(backup, from(...had), from(...found));
    assert.equal(text === undefined, isGood, `${had.join()} ${found.join()}: ${text}`);
  }
});

test("[BK166][BK169] the verdict is stored before anything is removed, and the last good drill stays known", () => {
  const figures = { purpose: `${name} copy`, figures: { ...source, isEstimated: false } };
  const objects = { clusters: [up], restores: [done] };
  const drill = drillAt("Comparing", { source, version: 99 });
  const passed = planBackup(sceneWith(drill, objects, { figures }));
  assert.deepEqual(passed.actions, []);
  assert.deepEqual(passed.status.lastVerification, {
    time,
    result: "Passed",
    message:
      "Version 99 was restored: 1000 keys with 50000 bytes; the database had 1000 keys with 50000 bytes",
    duration: "10m0s",
    version: 99,
    keys: 1000,
    bytes: 50_000,
    lastPassed: time,
  });
  const condition = passed.status.conditions?.at(-1);
  assert.equal(`${condition?.type} ${condition?.status}`, "Verified True");
  const removing = sceneWith(drillAt("Removing"), objects);
  assert.deepEqual(gistOf(removing).does, ["deleteRestore", "deleteCluster"]);
  assert.deepEqual(gistOf(removing).waits, ["BackupDrillRunning"]);
  assert.equal(planBackup(sceneWith(drillAt("Removing"))).status.drill, undefined);
  const empty = { ...figures, figures: { keys: 0, bytes: 0, isEstimated: false } };
  const failed = planBackup(sceneWith(drill, objects, { figures: empty }));
  assert.equal(failed.status.lastVerification?.result, "Failed");
  assert.deepEqual(
    failed.events
      .map(({ type, reason }) => `${type} ${reason}`)
      .filter((each) => /Drill/.test(each)),
    ["Warning BackupDrillFailed"],
  );
});

test("[BK169] a drill of an empty database proves nothing", () => {
  const nobody = { keys: 0, bytes: 0 };
  const figures = { purpose: `${name} copy`, figures: { ...nobody, isEstimated: false } };
  const objects = { clusters: [up], restores: [done] };
  const drill = drillAt("Comparing", { source: nobody, version: 99 });
  const { status } = planBackup(sceneWith(drill, objects, { figures }));
  assert.equal(status.lastVerification?.result, "Passed");
  assert.equal(status.lastVerification?.lastPassed, undefined, "nothing was proved");
  const { type, status: value, reason, message } = status.conditions?.at(-1) ?? {};
  assert.deepEqual([type, value, reason], ["Verified", "Unknown", "Empty"]);
  assert.match(message ?? "", /passed with an empty database, which proves nothing about data$/);
});

test("[BK168] a drill fails for what does not get on by itself, and says what it was", () => {
  const restoring = drillAt("Restoring", { source });
  const messageOf = (drill: Drill, objects: Partial<DrillObjects>): string =>
    planBackup(sceneWith(drill, objects)).status.lastVerification?.message ?? "goes on";
  const stuck = (concern: DrillTrouble["concern"], minutes: number): Partial<DrillObjects> => ({
    clusters: [up],
    restores: [restoreWith()],
    troubles: troubles(concern, minutes),
  });
  const aborted = restoreWith({ running: true, state: "aborted", endTime: time, tag: "t" });
  assert.match(messageOf(restoring, stuck("look", 31)), /does not get on: it says why/);
  assert.equal(messageOf(restoring, stuck("person", 29)), "goes on");
  assert.equal(messageOf(restoring, stuck("passing", 300)), "goes on");
  const damaged = { ...stuck("person", 0), troubles: troubles("person", 0, "BackupDataDamaged") };
  assert.match(messageOf(restoring, damaged), /does not get on: it says why/);
  assert.match(messageOf(restoring, { clusters: [up], restores: [aborted] }), /was aborted/);
  assert.match(messageOf(restoring, {}), /was deleted before the restore had ended/);
  const creating = drillAt("Creating", { source });
  const unplaced = { clusters: [clusterWith()], troubles: troubles("look", 31) };
  assert.match(messageOf(creating, unplaced), /did not come up: it says why/);
  const late = { ...creating, began: formatTime(nowMs - 361 * minuteMs) };
  assert.match(
    messageOf(late, { clusters: [clusterWith()] }),
    /^it had not ended after 6h\. The cluster/,
  );
});

function podWith(exitCode: number | undefined, message = ""): Stored<Pod> {
  const made = checkPod(backupWith({ verification: withCheck }), name);
  const terminated = exitCode === undefined ? undefined : { exitCode, message, finishedAt: time };
  const image = { image: "", imageID: "", ready: false, restartCount: 0 };
  const state = terminated === undefined ? {} : { terminated };
  return {
    ...made,
    metadata: { ...made.metadata, ...meta },
    status: { phase: "Running", containerStatuses: [{ name: "look", ...image, state }] },
  };
}

const withCheck = {
  ...verification,
  check: { spec: { containers: [{ name: "look" }, { name: "side" }] } },
};

test("[BK167] the first container of the check decides, and what it said last is quoted", () => {
  const resultOf = (pods: Stored<Pod>[]) => {
    const drill = drillAt("Checking", { source, copy: source });
    const scene = sceneWith(drill, { clusters: [up], pods }, {}, { verification: withCheck });
    const { status, actions } = planBackup(scene);
    const { result = "none", message = "" } = status.lastVerification ?? {};
    return [result, message, ...actions.map(({ type }) => type)];
  };
  assert.deepEqual(resultOf([]), ["none", "", "createCheck"]);
  assert.deepEqual(resultOf([podWith(undefined)]), ["none", ""]);
  assert.equal(resultOf([podWith(0)])[0], "Passed");
  const [failed, message] = resultOf([podWith(7, "orders:  3\nmissing")]);
  assert.equal(failed, "Failed");
  assert.equal(
    message,
    `the check in pod ${name}-check failed with exit code 7: orders: 3 missing`,
  );
});

test("[BK170] what no drill needs is removed, whosever it was, and nothing that is on its way out", () => {
  const leaving = { ...up, metadata: { ...up.metadata, deletionTimestamp: time } };
  const objects = { clusters: [up], restores: [done] };
  const deletes = ["deleteRestore", "deleteCluster"];
  const gone = sceneOf({
    backup: backupWith(),
    drillObjects: { ...objects, pods: [], troubles: [] },
  });
  assert.deepEqual(gistOf(gone).does, deletes);
  const deleted = backupWith(spec, { drill: drillAt("Restoring") }, { deletionTimestamp: time });
  const deleting = sceneOf({
    backup: deleted,
    drillObjects: { ...objects, pods: [], troubles: [] },
  });
  assert.deepEqual(gistOf(deleting).does, deletes);
  const other = drillAt("Restoring", { name: "drill-nightly-00000000", source });
  assert.deepEqual(gistOf(sceneWith(other, objects)).does, deletes);
  assert.deepEqual(gistOf(sceneWith(drillAt("Removing"), { clusters: [leaving] })).does, []);
});

test("[BK171] without the right the wait says how to give it", () => {
  const what = `create FoundationDBCluster ${name}`;
  const failure = {
    key: what,
    step: "verifyBackup",
    what,
    message: "forbidden",
    isForbidden: true,
  };
  const failures = [{ ...failure, retryAtMs: nowMs + 30_000 }];
  const { waits, actions } = planBackup(
    sceneWith(drillAt("Creating", { source }), {}, { failures }),
  );
  assert.deepEqual(actions, []);
  assert.equal(waits[0]?.reason, "BackupDrillForbidden");
  assert.match(waits[0]?.remedy ?? "", /drillAccess/);
});
