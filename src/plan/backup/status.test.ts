// What the status of a backup shows. Rules: spec/backup.md [BK22], [BK31], [BK80]-[BK89].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { validateBackup } from "../../api/validate-backup.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { durationText, lagOf, timeOf } from "./figures.ts";
import {
  backupWith,
  gistOf,
  layerWith,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";

test("[BK22] what can be restored does not begin after its end, although versions jump in a recovery", () => {
  const pair = { version: 10_000_000, seconds: nowMs / 1000 - 100 };
  const times = [
    { version: 210_000_000, seconds: nowMs / 1000 - 80 },
    { version: 10_000_000, seconds: nowMs / 1000 - 100 },
  ];
  const record = recordWith({ restorableFrom: 130_000_000, restorableTo: 150_000_000 });
  const layer = {
    kind: "seen" as const,
    observedMs: nowMs,
    layer: layerWith(record, { times, fromTime: pair }),
  };
  const { from, to } = planBackup(sceneOf({ layer })).status.restorable ?? {};
  assert.equal(to?.time, formatTime(nowMs - 80_000));
  assert.equal(from?.time, to?.time);
});

test("[BK80][BK89] a running backup", () => {
  const record = recordWith({ snapshotBegin: 90_000_000, snapshotTarget: 130_000_000 });
  const { status } = planBackup(sceneOf(seen(record)));
  const time = (secondsAgo: number): string =>
    new Date(nowMs - secondsAgo * 1000).toISOString().replace(".000", "");
  assert.deepEqual(status, {
    agentCount: 2,
    deploymentConfigured: true,
    backupUID: "u1",
    backupDetails: {
      url: "blobstore://account@host:443/nightly?bucket=fdb-backups",
      running: true,
      paused: false,
      snapshotTime: 864_000,
      restorable: true,
      tag: "default",
    },
    state: "RunningDifferentially",
    restorable: {
      from: { version: 50_000_000 },
      to: { version: 100_000_000, time: time(12) },
    },
    lag: "12s",
    bytes: { logs: 100, snapshots: 200, total: 300 },
    snapshot: { progress: 50, eta: time(-18) },
    generations: { reconciled: 3 },
    conditions: [
      {
        type: "Reconciled",
        status: "True",
        reason: "ReconciliationComplete",
        message: "Reconciled generation 3",
        observedGeneration: 3,
        lastTransitionTime: time(0),
      },
      {
        type: "Running",
        status: "True",
        reason: "RunningDifferentially",
        message: "The backup runs",
        observedGeneration: 3,
        lastTransitionTime: time(0),
      },
      {
        type: "Restorable",
        status: "True",
        reason: "Restorable",
        message: "The backup can be restored",
        observedGeneration: 3,
        lastTransitionTime: time(0),
      },
      {
        type: "Behind",
        status: "False",
        reason: "UpToDate",
        message: "The last restorable point is not more than 10m behind",
        observedGeneration: 3,
        lastTransitionTime: time(0),
      },
    ],
  });
});

test("[BK2] no secret of the stored URL is shown", () => {
  const url = "blobstore://key:s3cr3t%3Atoken@host:443/nightly?bucket=fdb-backups";
  const errors = [{ code: 1, text: `cannot read ${url}`, version: 200_000_000 }];
  const backup = backupWith({ blobStoreConfiguration: { accountName: "key:s3cr3t:token@host" } });
  const plan = planBackup(sceneOf({ backup, ...seen(recordWith({ url, errors })) }));
  assert.equal(plan.actions.length, 0, "compared as it is, nothing differs");
  assert.equal(
    plan.status.backupDetails?.url,
    "blobstore://key:***@host:443/nightly?bucket=fdb-backups",
  );
  assert.ok(!JSON.stringify([plan.status, plan.waits, plan.events]).includes("s3cr3t"));
});

test("[BK31] without a database what was seen last stays, and the wait says what is missing", () => {
  const before = { backupDetails: { url: "x", running: true }, state: "Running" };
  const backup = backupWith({}, before);
  const reasons = {
    NoCluster: "BackupClusterMissing",
    NotReady: "DatabaseNotReady",
    Unreachable: "DatabaseUnreachable",
  } as const;
  for (const [reason, wait] of Object.entries(reasons)) {
    const layer = { kind: "missing", reason: reason as keyof typeof reasons, message: "" } as const;
    const { status, waits, isReconciled } = planBackup(sceneOf({ backup, layer }));
    assert.deepEqual([waits[0]?.reason, isReconciled], [wait, false]);
    assert.deepEqual([status.backupDetails, status.state], [before.backupDetails, before.state]);
  }
});

function databaseWith(backup: unknown): DatabaseStatus {
  return { cluster: { layers: { _valid: true, backup } } } as DatabaseStatus;
}

test("[BK81] a backup that runs without agents says so", () => {
  const silent = ["BackupAgentsSilent"];
  assert.deepEqual(gistOf(sceneOf({ database: databaseWith(null) })).waits, silent);
  assert.deepEqual(
    gistOf(sceneOf({ database: databaseWith({ instances_running: 0 }) })).waits,
    silent,
  );
  assert.deepEqual(gistOf(sceneOf({ database: databaseWith({ instances_running: 1 }) })).waits, []);
  const ended = seen(recordWith({ state: "Completed" }));
  const stopped = backupWith({ backupState: "Stopped" });
  assert.deepEqual(
    gistOf(sceneOf({ backup: stopped, ...ended, database: databaseWith(null) })).waits,
    [],
  );
});

test("[BK85] a backup that nobody works on is not said to run", () => {
  const runs = (change: Parameters<typeof sceneOf>[0]): unknown[] => {
    const { conditions = [] } = planBackup(sceneOf(change)).status;
    const { status, reason } = conditions.find(({ type }) => type === "Running") ?? {};
    return [status, reason];
  };
  const [heard, silent] = [databaseWith({ instances_running: 1 }), databaseWith(null)];
  assert.deepEqual(runs({ database: heard }), ["True", "RunningDifferentially"]);
  assert.deepEqual(runs({ database: undefined }), ["True", "RunningDifferentially"], "not known");
  assert.deepEqual(runs({ database: silent }), ["False", "AgentsSilent"]);
  const old = backupWith({ version: "7.1.57" });
  assert.deepEqual(runs({ backup: old, database: silent }), ["False", "VersionMismatch"]);
  assert.deepEqual(
    runs({ backup: old, database: heard }),
    ["True", "RunningDifferentially"],
    "agents of another backup",
  );
});

test("[BK81] a new agent has two minutes to be heard, and a silence that was told of goes on", () => {
  const at = (secondsAgo: number, isTold = false): string[] => {
    const metadata = { name: "agent", creationTimestamp: formatTime(nowMs - secondsAgo * 1000) };
    return gistOf(
      sceneOf({
        database: databaseWith(null),
        agentPods: [{ apiVersion: "v1", kind: "Pod", metadata }],
        facts: isTold ? { agentsSilent: nowMs } : {},
      }),
    ).waits;
  };
  assert.deepEqual(
    [at(119), at(120), at(10, true)],
    [[], ["BackupAgentsSilent"], ["BackupAgentsSilent"]],
  );
});

test("[BK82] errors since the last restorable point are told, older and usual ones are not", () => {
  const text = "'Network connection failed' on 'file_backup_write_range_5.2'";
  const waitsWith = (code: number, version: number): string[] =>
    gistOf(sceneOf(seen(recordWith({ errors: [{ code, text, version }] })))).waits;
  assert.deepEqual(waitsWith(1026, 100_000_001), ["BackupErrors"]);
  assert.deepEqual(waitsWith(1026, 99_000_000), []);
  assert.deepEqual(waitsWith(2382, 100_000_001), []);
});

test("[BK22] times hold through a recovery, in which versions jump", () => {
  const times = [
    { seconds: 1080, version: 205_000_000 },
    { seconds: 1010, version: 100_000_000 },
    { seconds: 1000, version: 90_000_000 },
  ];
  assert.equal(timeOf(times, 95_000_000), 1005);
  assert.equal(timeOf(times, 204_000_000), 1080, "not later than the next entry");
  assert.equal(timeOf(times, 207_000_000), 1082);
  assert.equal(timeOf(times, 80_000_000), undefined);
  const toTime = { seconds: 985, version: 75_000_000 };
  const layer = layerWith(recordWith({ restorableTo: 80_000_000 }), { times, toTime });
  assert.equal(lagOf(layer, 1_100_000), 110_000, "older than the recent entries");
  assert.deepEqual(
    [59, 61, 3700, 90_000].map((seconds) => durationText(seconds * 1000)),
    ["59s", "1m1s", "1h1m", "1d1h"],
  );
});

test("[BK90] a backup is behind when two looks say so", () => {
  const old = { seconds: nowMs / 1000 - 700, version: 100_000_000 };
  const times = [{ seconds: nowMs / 1000 - 2, version: 798_000_000 }, old];
  const layer = {
    kind: "seen",
    layer: layerWith(recordWith(), { times }),
    observedMs: nowMs,
  } as const;
  const behindOf = (change: Parameters<typeof sceneOf>[0]): string => {
    const { conditions = [] } = planBackup(sceneOf(change)).status;
    const found = conditions.find(({ type }) => type === "Behind");
    return `${found?.status} ${found?.reason}`;
  };
  assert.equal(behindOf({ layer }), "Unknown NotAsked", "one look is not enough");
  assert.equal(behindOf({ layer, layerBefore: layer }), "True Behind");
  const fine = { ...layer, layer: layerWith(recordWith()) };
  assert.equal(behindOf({ layer: fine, layerBefore: layer }), "False UpToDate");
  const patient = backupWith({ lagAlarm: "1h" });
  assert.equal(behindOf({ backup: patient, layer, layerBefore: layer }), "False UpToDate");
  const stopped = backupWith({ backupState: "Stopped" });
  assert.equal(behindOf({ backup: stopped, layer, layerBefore: layer }), "False NotWanted");
  assert.equal(behindOf(seen(undefined)), "Unknown NotRestorable");
  assert.deepEqual(
    ["30s", "59s", "1m", "2d"].map((lagAlarm) => validateBackup(backupWith({ lagAlarm })).length),
    [1, 1, 0, 0],
  );
});

test("[BK89] paused and ended backups, and one that was never started", () => {
  const running = (scene: Parameters<typeof sceneOf>[0]): unknown => {
    const { conditions = [] } = planBackup(sceneOf(scene)).status;
    return conditions.map(({ status, reason }) => `${status} ${reason}`).slice(1, 3);
  };
  const paused = {
    backup: backupWith({ backupState: "Paused" }),
    ...seen(recordWith(), { isPaused: true }),
  };
  assert.deepEqual(running(paused), ["False Paused", "True Restorable"]);
  assert.equal(planBackup(sceneOf(paused)).status.state, "Paused");
  assert.deepEqual(running(seen(undefined)), ["False NeverRan", "False NotRestorable"]);
  assert.deepEqual(running(seen(recordWith({ state: "Errored" }))), [
    "False Errored",
    "True Restorable",
  ]);
});

test("[BK80] the lag and the present snapshot of a backup that has ended are not shown any more", () => {
  const before = { lag: "12s", snapshot: { progress: 3 }, backupUID: "u1" };
  const backup = backupWith({ backupState: "Stopped" }, before);
  const { status } = planBackup(sceneOf({ backup, ...seen(recordWith({ state: "Completed" })) }));
  assert.equal(status.lag, undefined);
  assert.equal(status.snapshot, undefined);
  const layer = { kind: "missing", reason: "Unreachable", message: "" } as const;
  assert.equal(planBackup(sceneOf({ backup, layer })).status.lag, "12s", "nobody could ask");
});
