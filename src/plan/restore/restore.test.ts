// What is decided about a restore, state by state. Rules: spec/restore.md.
import { conditionIn } from "../../kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { RestoreSpec, RestoreStatus } from "../../api/restore.ts";
import { agentDeployment } from "../../build/backup-deployment.ts";
import { purposeOf } from "../../build/command-pod.ts";
import { ownAgents } from "../../build/restore-agents.ts";
import { startRestoreCommand } from "../../build/restore-command.ts";
import { clusterWith } from "../../../test/fixtures/sample-cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { backupFinalizer } from "../backup/deletion.ts";
import {
  backupWith,
  commandPodOf,
  nightlyUrl,
  nowMs,
  planBackup,
  recordWith as backupRecord,
  sceneOf as backupScene,
  seen as backupSeen,
} from "../../../test/fixtures/backup-scene.ts";
import { planRestore } from "./chain.ts";
import { sourceUrl } from "./facts.ts";
import {
  gistOf,
  recordWith,
  restoreWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/restore-scene.ts";
import type { RestoreSnapshot } from "./snapshot.ts";

const begun: RestoreStatus = { running: true, state: "running", tag: "r-1", restoreUID: "u1" };
const running = { restore: restoreWith({}, begun), ...seen([recordWith()], { lockUid: "u1" }) };
const silent = {} as unknown as RestoreSnapshot["database"];
const missing = { kind: "missing", reason: "NoCluster", message: "" } as const;
const deleted = { deletionTimestamp: "2026-11-16T07:59:00Z" };
const foreign = recordWith({ tag: "mine", uid: "u9" });
const tagged = restoreWith({ tag: "mine" });

const table: readonly (readonly [string, Partial<RestoreSnapshot>, string[], string[]])[] = [
  ["[RS31] the store is looked at first", {}, ["describe"], []],
  ["[RS24] no cluster", { layer: missing, cluster: undefined }, [], ["BackupClusterMissing"]],
  [
    "[RS25] its owner wants the cluster to be left alone",
    { layer: { ...missing, reason: "Skipped" } },
    [],
    ["BackupClusterSkipped"],
  ],
  [
    "[RS52] files of the backup are lost while it runs",
    {
      ...running,
      ...seen([recordWith({ state: "starting", error: "'Missing backup data' on 'x'" })]),
    },
    [],
    ["RestoreRunning", "BackupDataDamaged"],
  ],
  [
    "[RS70] the finalizer comes before the start",
    { restore: restoreWith({}, {}, { finalizers: [] }) },
    ["setFinalizer"],
    [],
  ],
  ["[RS35] no agent speaks", { database: silent }, [], ["RestoreAgentsSilent"]],
  ["[RS36] agents are paused", seen([], { isPaused: true }), [], ["RestoreAgentsPaused"]],
  ["[RS42] somebody has locked it", seen([], { lockUid: "x" }), [], ["RestoreDatabaseLocked"]],
  [
    "[RS43] another restore runs",
    seen([recordWith({ tag: "t2", uid: "u2" })], { lockUid: "u2" }),
    [],
    ["RestoreOtherRunning"],
  ],
  [
    "[RS43] another restore has ended",
    seen([recordWith({ tag: "t2", uid: "u2", state: "completed" })]),
    ["describe"],
    [],
  ],
  [
    "[RS44] the tag is somebody else's",
    { restore: tagged, ...seen([foreign], { lockUid: "u9" }) },
    [],
    ["RestoreTagInUse"],
  ],
  [
    "[RS44] the restore of the tag has ended",
    { restore: tagged, ...seen([{ ...foreign, state: "aborted" }]) },
    ["describe"],
    [],
  ],
  ["[RS45] the backup is gone", { source: undefined }, [], ["RestoreSourceMissing"]],
  ["[RS50] it runs", running, [], ["RestoreRunning"]],
  [
    "[RS51] it runs and agents are paused",
    { ...running, ...seen([recordWith()], { lockUid: "u1", isPaused: true }) },
    [],
    ["RestoreRunning", "RestoreAgentsPaused"],
  ],
  [
    "[RS51] it runs and nobody speaks",
    { ...running, database: silent },
    [],
    ["RestoreRunning", "RestoreAgentsSilent"],
  ],
  [
    "[RS52] it is starting and has an error",
    { ...running, ...seen([recordWith({ state: "starting", error: "no" })], { lockUid: "u1" }) },
    [],
    ["RestoreRunning", "RestoreErrors"],
  ],
  ["[RS4] the database does not know it", { ...running, ...seen() }, [], ["RestoreLost"]],
  [
    "[RS55] it has ended and its lock is there",
    { ...running, ...seen([recordWith({ state: "completed" })], { lockUid: "u1" }) },
    [],
    ["RestoreDatabaseLocked"],
  ],
  [
    "[RS71] it runs and is deleted",
    { ...running, restore: restoreWith({}, begun, deleted) },
    ["abort"],
    ["RestoreRunning"],
  ],
  [
    "[RS73] it runs, is deleted, and is to be kept",
    { ...running, restore: restoreWith({ deletionPolicy: "keep" }, begun, deleted) },
    ["setFinalizer"],
    ["RestoreRunning"],
  ],
  [
    "[RS71] it is deleted and the cluster is gone",
    { layer: missing, restore: restoreWith({}, begun, deleted) },
    ["setFinalizer"],
    ["BackupClusterMissing"],
  ],
  [
    "[RS71] it runs, is deleted, and the status of the cluster has lost its database",
    { layer: { ...missing, reason: "NotReady" }, restore: restoreWith({}, begun, deleted) },
    [],
    ["DatabaseNotReady", "DatabaseNotReady"],
  ],
  [
    "[RS4] the Go operator has completed it",
    { restore: restoreWith({}, { state: "completed", running: true }, { finalizers: [] }) },
    [],
    [],
  ],
];

for (const [title, change, does, waits] of table) {
  test(title, () => {
    assert.deepEqual(gistOf(sceneOf(change)), { does, waits });
  });
}

test("[RS40] the sample key and the range are named, and nothing is begun", () => {
  const occupied = { range: { begin: "old/", end: "old/\xff" }, key: `old/${"k".repeat(99)}` };
  const scene = sceneOf({
    ...seen([], { occupied }),
    source: backupWith({ clusterName: "other" }),
  });
  const [wait] = planRestore(scene).waits;
  assert.equal(wait?.reason, "RestoreDestinationNotEmpty");
  assert.match(wait?.message ?? "", /'old\/' to 'old\/\\xff' is not empty/);
  assert.ok((wait?.message ?? "").length < 250);
});

/** The pod of a describe that has ended well. */
function describedPod(scene: RestoreSnapshot): Stored<Pod> {
  const action = planRestore(scene).actions.find(({ type }) => type === "createCommand");
  assert.ok(action?.type === "createCommand");
  const terminated = { exitCode: 0, finishedAt: formatTime(nowMs - 5_000) };
  const { object } = action;
  const main = { name: "foundationdb", image: "", imageID: "", ready: false, restartCount: 0 };
  return { ...object, status: { containerStatuses: [{ ...main, state: { terminated } }] } };
}

function describedScene(change: Partial<RestoreSnapshot> = {}): RestoreSnapshot {
  const scene = sceneOf(change);
  const pod = describedPod(scene);
  const text = JSON.stringify({
    Snapshots: [],
    MinRestorablePoint: { Version: 50_000_000 },
    MaxRestorablePoint: { Version: 100_000_000 },
  });
  const outputs = new Map([[pod.metadata.name ?? "", `Warning: x\n${text}\n`]]);
  return { ...scene, commandPods: [pod], outputs };
}

test("[RS60] what is to be started is in the status that is stored before", () => {
  const { actions, status } = planRestore(describedScene());
  const [action] = actions;
  assert.ok(action?.type === "createCommand" && action.command === "start");
  const { args = [], command } = action.object.spec?.containers[0] ?? {};
  assert.deepEqual(command, ["fdbrestore"]);
  assert.deepEqual(args, [
    ...["start", "--dest-cluster-file", "/var/dynamic-conf/fdb.cluster", "-r", nightlyUrl],
    ...["-t", "r-1", "-v", "100000000", "--user-data", "--add-prefix", "old/"],
  ]);
  assert.deepEqual(status.target, { version: 100_000_000 });
  assert.equal(status.tag, "r-1");
  assert.deepEqual(status.window, { from: 50_000_000, to: 100_000_000 });
  assert.equal(status.running, undefined);
});

test("[RS47] the answer to a point outside names the window, in times where they are known", () => {
  const timeline = [
    { seconds: 1_000, version: 40_000_000 },
    { seconds: 1_100, version: 140_000_000 },
  ];
  const restore = restoreWith({ to: { version: 7 } });
  const { waits, actions } = planRestore(describedScene({ restore, timeline }));
  assert.deepEqual(actions, []);
  assert.equal(
    waits[0]?.message,
    "The backup cannot be restored to version 7: it reaches from version 50000000 (about 1970-01-01T00:16:50Z) to version 100000000 (about 1970-01-01T00:17:40Z)",
  );
});

test("[RS47] [BK28] from a backup that was moved only what lies in its new place as a whole is restored", () => {
  const from = { version: 70_000_000 };
  const waitsWith = (moved: object, version: number): string[] => {
    const source = backupWith({}, { moved: { backupUID: "u1", version: 45_000_000, ...moved } });
    const restore = restoreWith({ to: { version } });
    return planRestore(describedScene({ source, restore })).waits.map(({ reason }) => reason);
  };
  assert.deepEqual(waitsWith({ from }, 69_999_999), ["RestoreOutsideWindow"]);
  assert.deepEqual(waitsWith({ from }, 70_000_000), []);
  assert.deepEqual(waitsWith({}, 70_000_000), ["RestoreNotRestorable"]);
  // Who names the place instead of the backup means the same data.
  const { blobStoreConfiguration } = backupWith().spec;
  const writer = backupWith({}, { moved: { backupUID: "u1", version: 45_000_000, from } });
  const byPlace = (version: number): string[] => {
    const { fromBackup: _, ...spec } = restoreWith().spec;
    const restore = {
      ...restoreWith(),
      spec: { ...spec, blobStoreConfiguration, to: { version } },
    };
    const scene = describedScene({ source: undefined, writer, restore });
    return planRestore(scene).waits.map(({ reason }) => reason);
  };
  assert.deepEqual(byPlace(69_999_999), ["RestoreOutsideWindow"]);
  assert.deepEqual(byPlace(70_000_000), []);
});

test("[RS58] a point before the window is asked about once an hour, a later one every ten minutes, and the wait stays", () => {
  const later = (version: number, minutes: number): RestoreSnapshot => {
    const spec = { to: { version } };
    const scene = describedScene({ restore: restoreWith(spec) });
    const { status } = planRestore(scene);
    assert.deepEqual(status.window, { from: 50_000_000, to: 100_000_000 });
    const restore = restoreWith(spec, status);
    return { ...scene, restore, nowMs: nowMs + minutes * 60_000 };
  };
  const waits = ["RestoreOutsideWindow"];
  assert.deepEqual(gistOf(later(7, 59)), { does: [], waits });
  assert.deepEqual(gistOf(later(7, 61)), { does: ["deletePod"], waits });
  assert.deepEqual(gistOf(later(200_000_000, 9)), { does: [], waits });
  assert.deepEqual(gistOf(later(200_000_000, 11)), { does: ["deletePod"], waits });
  const anew = { ...later(7, 61), commandPods: [] };
  assert.deepEqual(gistOf(anew), { does: ["describe"], waits });
  const reached = { ...later(7, 61), commandPods: [] };
  const restore = restoreWith({ to: { version: 60_000_000 } }, reached.restore.status);
  assert.deepEqual(gistOf({ ...reached, restore }), { does: ["describe"], waits: [] });
});

test("[RS57] the latest point is not one from before a gap in the store", () => {
  const startedAgain = (from: number): Partial<RestoreSnapshot> => {
    const restorable = { from: { version: from }, to: { version: 300_000_000 } };
    return { source: { ...backupWith(), status: { restorable } } };
  };
  const waitsOf = (change: Partial<RestoreSnapshot>): string[] =>
    planRestore(describedScene(change)).waits.map(({ reason }) => reason);
  assert.deepEqual(waitsOf(startedAgain(200_000_000)), ["RestoreOutsideWindow"]);
  assert.deepEqual(waitsOf(startedAgain(60_000_000)), []);
  const gap = (after?: number): Partial<RestoreSnapshot> => {
    const seenGap = { backupUID: "u1", before: 9_000, ...(after === undefined ? {} : { after }) };
    return { source: backupWith({}, { gap: seenGap }) };
  };
  assert.deepEqual(waitsOf(gap()), ["RestoreOutsideWindow"], "nothing behind it yet");
  assert.deepEqual(waitsOf(gap(200_000_000)), ["RestoreOutsideWindow"]);
  assert.deepEqual(waitsOf(gap(60_000_000)), [], "the store reaches behind it");
  const restore = restoreWith({ to: { version: 90_000_000 } });
  assert.deepEqual(waitsOf({ ...startedAgain(200_000_000), restore }), []);
});

test("[RS33] a start with another version is the same command, so it has the same pod", () => {
  const backup = backupWith();
  const { spec } = restoreWith();
  const [one, two] = [1, 2].map((version) =>
    purposeOf(startRestoreCommand(backup, spec, { url: "u", tag: "t", version }, "c")),
  );
  assert.equal(one, two);
});

test("[RS30] own agents have the version of the destination, not of the backup", () => {
  const cluster = clusterWith({ version: "7.3.79" }, { runningVersion: "7.3.79" });
  const { spec, kind, metadata } = ownAgents(
    restoreWith(),
    backupWith({ version: "7.1.57" }),
    cluster,
  );
  assert.deepEqual(
    [spec.version, spec.clusterName, kind, metadata.uid],
    ["7.3.79", "sample", "FoundationDBRestore", "r-1"],
  );
});

test("[RS53] own agents that have been silent for long are made anew, once", () => {
  const agentPods = [60, 5].map((minutesAgo): Stored<Pod> => {
    const creationTimestamp = formatTime(nowMs - minutesAgo * 60_000);
    const name = minutesAgo === 60 ? "old" : "new";
    return {
      ...{ apiVersion: "v1", kind: "Pod", status: { phase: "Running" } },
      metadata: { name, uid: name, resourceVersion: "1", creationTimestamp },
    };
  });
  const restore = restoreWith({ agents: {} });
  const own = ownAgents(restore, backupWith(), clusterWith({}, { configured: true }));
  const built = agentDeployment(own, "back-restore-agents");
  assert.ok(built.ok && built.value !== undefined);
  const deployment = {
    ...built.value,
    metadata: { ...built.value.metadata, uid: "d-1", resourceVersion: "7", generation: 1 },
    status: { observedGeneration: 1, replicas: 2, readyReplicas: 2, updatedReplicas: 2 },
  };
  const unheard = { cluster: { layers: { _valid: true } } } as RestoreSnapshot["database"];
  const planAfter = (minutes: number, change: Partial<RestoreSnapshot> = {}) =>
    planRestore(
      sceneOf({
        ...{ restore, deployment, agentPods, helpers: [], database: unheard },
        facts: { agentsSilent: nowMs - minutes * 60_000 },
        ...change,
      }),
    );
  const deletedAfter = (...given: Parameters<typeof planAfter>): string[] =>
    planAfter(...given).actions.map((each) => (each.type === "deletePod" ? each.basis.name : ""));
  assert.deepEqual(deletedAfter(9), []);
  assert.deepEqual(deletedAfter(11), ["old"]);
  assert.deepEqual(planAfter(11).facts, { agentsSilent: nowMs - 660_000 });
  const started = { ...running, restore: restoreWith({ agents: {} }, begun) };
  assert.deepEqual(deletedAfter(11, started), ["old"], "also while it runs");
  assert.deepEqual(
    deletedAfter(11, { database: sceneOf().database }),
    ["describe"].map(() => ""),
  );
  assert.deepEqual(planAfter(11, { database: sceneOf().database }).facts, {});
});

test("[RS50] progress tells when the end is to be expected", () => {
  const status = { ...begun, startTime: formatTime(nowMs - 60_000) };
  const scene = sceneOf({ ...running, restore: restoreWith({}, status) });
  assert.deepEqual(planRestore(scene).status.progress, {
    percent: 50,
    bytes: 1_000,
    eta: formatTime(nowMs + 60_000),
  });
  const applying = recordWith({ blocksFinished: 10 });
  const { progress } = planRestore({ ...scene, ...seen([applying], { lockUid: "u1" }) }).status;
  assert.deepEqual(progress, { percent: 100, bytes: 1_000, versionsLeft: 10_000_001 });
});

test("[RS81] the words about the destination are true for each end", () => {
  const wordsOf = (change: Partial<RestoreSnapshot>): string =>
    conditionIn(planRestore(sceneOf(change)).status, "Completed")?.message ?? "";
  assert.match(wordsOf({}), /Nothing was written into the database of sample/);
  assert.match(wordsOf(running), /is locked, and what lies in the restored ranges is not complete/);
  const ended = (state: "completed" | "aborted", bytes: number): string =>
    wordsOf({ ...running, ...seen([recordWith({ state, bytes })]) });
  assert.match(ended("completed", 5), /^The keys of users were restored to version 90000000 into/);
  const keyRanges = [{ start: "a", end: "b" }];
  const done = seen([recordWith({ state: "completed" })]);
  const part = restoreWith({ keyRanges, addPrefix: "old/" }, begun);
  assert.equal(
    wordsOf({ restore: part, ...done }),
    "One range was restored to version 90000000 into the database of sample under the prefix old/; the database is not locked by the restore any more",
  );
  const whole = restoreWith({ addPrefix: "" }, begun);
  assert.match(wordsOf({ restore: whole, ...done }), /sample was restored to version 90000000,/);
  const { status } = planRestore(sceneOf({ restore: part, ...done }));
  const changed = restoreWith({}, status);
  assert.match(wordsOf({ restore: changed, ...done }), /^One range was restored/, "as it was then");
  assert.match(ended("aborted", 5), /holds a part of the data that fits no version/);
  assert.match(ended("aborted", 0), /before it had written anything/);
});

test("[RS85] a secret in the URL is left out of the status and of all waits", () => {
  const source = backupWith({ blobStoreConfiguration: { accountName: "key:SECRET@host" } });
  const url = "blobstore://key:SECRET@host:443/nightly?bucket=fdb-backups";
  const error = `cannot read ${url}`;
  const record = recordWith({ url, state: "starting", error });
  for (const scene of [
    sceneOf({ source }),
    sceneOf({ ...running, source, ...seen([record], { lockUid: "u1" }) }),
    sceneOf({ source, restore: tagged, ...seen([{ ...foreign, url }], { lockUid: "u9" }) }),
  ]) {
    const { status, waits, wanted } = planRestore(scene);
    assert.ok(!JSON.stringify([status, waits, wanted]).includes("SECRET"));
  }
});

test("[RS5] the run of a schedule that reaches the point is restored", () => {
  const run = (hour: string, version: number, result: "Succeeded" | "Failed" = "Succeeded") => ({
    ...{ time: `2026-11-16T${hour}:00:00Z`, backupName: `nightly-${hour}`, result, version },
  });
  const runs = [run("01", 10), run("02", 20, "Failed"), run("03", 30), run("04", 40)];
  const schedule = { cron: "0 * * * *" };
  const source = backupWith({ backupMode: "oneTime", schedule }, { runs });
  const nameFor = (spec: Partial<RestoreSpec>): string =>
    /\/(nightly[^?]*)\?/.exec(sourceUrl(sceneOf({ source, restore: restoreWith(spec) })))?.[1] ??
    "";
  assert.equal(nameFor({}), "nightly-04");
  assert.equal(nameFor({ to: { version: 15 } }), "nightly-03");
  assert.equal(nameFor({ to: { version: 10 } }), "nightly-01");
  assert.equal(nameFor({ to: { version: 99 } }), "nightly-04");
});

test("[RS60] what was to be started is forgotten when nothing came of it, so that nobody waits for it", () => {
  const pinned = { tag: "r-1", target: { version: 100_000_000 } };
  const locked = seen([], { lockUid: "x" });
  const restore = restoreWith({}, pinned);
  assert.equal(planRestore(sceneOf({ restore, ...locked })).status.target, undefined);
  const described = describedScene();
  const action = planRestore(described).actions.find(({ type }) => type === "createCommand");
  assert.ok(action?.type === "createCommand");
  const commandPods = [...described.commandPods, action.object];
  const { status } = planRestore({ ...described, restore, commandPods, ...locked });
  assert.deepEqual(status.target, { version: 100_000_000 });
});

test("[RS24][RS30] a restore is at rest when its end is stored and its agents and its finalizer are gone", () => {
  const cluster = clusterWith({}, { configured: true });
  const restore = restoreWith({}, begun);
  const built = agentDeployment(ownAgents(restore, backupWith({}), cluster), "r-restore-agents");
  assert.ok(built.ok && built.value !== undefined);
  const { uid = "", name = "" } = restore.metadata;
  const owner = { apiVersion: "v1", kind: "FoundationDBRestore", name, uid };
  const metadata = { ...built.value.metadata, uid: "d-1", resourceVersion: "1" };
  const deployment = { ...built.value, metadata: { ...metadata, ownerReferences: [owner] } };
  const around = { cluster, helpers: [], ...seen([recordWith({ state: "completed" })]) };
  const end = planRestore(sceneOf({ restore, deployment, ...around }));
  assert.equal(end.status.endTime, formatTime(nowMs));
  assert.equal(end.isAtRest, false);
  const stored = restoreWith({}, end.status);
  const after = planRestore(sceneOf({ restore: stored, deployment, ...around }));
  assert.deepEqual(
    after.actions.map(({ type }) => type),
    ["setFinalizer", "deleteDeployment"],
  );
  assert.equal(after.isAtRest, false);
  const bare = restoreWith({}, end.status, { finalizers: [] });
  const rest = planRestore(sceneOf({ restore: bare, deployment: undefined, ...around }));
  assert.deepEqual(rest.wanted, []);
  assert.equal(rest.isAtRest, true);
});

test("[RS38] agents are neither made nor changed without the template of a backup that is gone", () => {
  const status = { running: true, state: "running", tag: "r-1", restoreUID: "u1" };
  const lost = { source: undefined, helpers: [] };
  const scene = sceneOf({ restore: restoreWith({}, status), ...seen([recordWith()]), ...lost });
  assert.deepEqual(gistOf(scene), { does: [], waits: ["RestoreRunning", "RestoreSourceMissing"] });
  const agents = { podTemplateSpec: { spec: { containers: [] } } };
  const given = { ...scene, restore: restoreWith({ agents }, status) };
  assert.deepEqual(gistOf(given).does, ["createDeployment"]);
});

test("[RS38] an abort without the backup runs with the template of the agents that are there", () => {
  const env = [{ name: "FDB_TLS_CA_FILE", value: "/tls/ca.pem" }];
  const podTemplateSpec = {
    spec: {
      containers: [
        { name: "foundationdb", env, volumeMounts: [{ name: "tls", mountPath: "/tls" }] },
      ],
      volumes: [{ name: "tls", secret: { secretName: "tls" } }],
    },
  };
  const cluster = clusterWith({}, { configured: true });
  const restore = restoreWith({}, begun, deleted);
  const agents = ownAgents(restore, backupWith({ podTemplateSpec }), cluster);
  const made = agentDeployment(agents, "back-restore-agents");
  assert.ok(made.ok && made.value !== undefined);
  const { spec } = made.value;
  const deployment = { ...made.value, ...(spec === undefined ? {} : { spec }) };
  const scene = sceneOf({
    ...running,
    restore,
    cluster,
    source: undefined,
    helpers: [],
    deployment,
  });
  const action = planRestore(scene).actions.find(({ type }) => type === "createCommand");
  assert.ok(action?.type === "createCommand" && action.command === "abort");
  const [main] = action.object.spec?.containers ?? [];
  assert.deepEqual(main?.command, ["fdbrestore"]);
  assert.equal(main?.image, spec?.template.spec?.containers[0]?.image);
  assert.ok(main?.env?.some(({ name }) => name === "FDB_TLS_CA_FILE"));
  assert.ok(action.object.spec?.volumes?.some(({ name }) => name === "tls"));
  const names = (action.object.spec?.volumes ?? []).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, "no volume twice");
});

test("[RS39] no restore is started while data of its backup is being deleted", () => {
  const finalizers = [backupFinalizer];
  const deletionTimestamp = "2026-11-16T07:59:00Z";
  const annotations = { "foundationdb.org/delete-last-backup": "nightly" };
  const metadata = { finalizers, deletionTimestamp, annotations };
  const backup = backupWith({ deletionPolicy: "cleanup" }, {}, metadata);
  const ended = backupScene({ backup, ...backupSeen(backupRecord({ state: "Aborted" })) });
  const removing = commandPodOf(planBackup(ended));
  const gist = gistOf(sceneOf({ removals: [removing] }));
  assert.deepEqual(gist, { does: [], waits: ["BackupCommandRunning"] });
  const done = commandPodOf(planBackup(ended), { exitCode: 0 });
  assert.deepEqual(gistOf(sceneOf({ removals: [done] })).does, ["describe"]);
  const { blobStoreConfiguration = { accountName: "" } } = backup.spec;
  const elsewhere = backupWith({
    blobStoreConfiguration: { ...blobStoreConfiguration, bucket: "other" },
  });
  const scene = sceneOf({ source: elsewhere, removals: [removing] });
  assert.deepEqual(gistOf(scene).does, ["describe"]);
});
