// What a failed command says about its cause, on the texts of the real tools. Rules: spec/backup.md [BK2], [BK40], [BK42], [BK49].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BackupSpec } from "../../api/backup.ts";
import { formatTime } from "../../kube/time.ts";
import { commandEnd } from "./command-end.ts";
import { troubleOf } from "./command-failure.ts";
import {
  backupWith,
  commandPodOf,
  gistOf,
  nowMs,
  planBackup,
  recordWith,
  sceneOf,
  seen,
} from "../../../test/fixtures/backup-scene.ts";

const scene = sceneOf(seen(recordWith({ state: "Completed" })));

function reasonFor(message: string, exitCode = 1, spec: Partial<BackupSpec> = {}): string {
  const end = commandEnd(scene, commandPodOf(planBackup(scene), { exitCode, message }));
  assert.ok(end);
  return troubleOf(backupWith(spec), { program: "fdbbackup", type: "start" }, end).reason;
}

const credentials: Partial<BackupSpec> = {
  podTemplateSpec: {
    spec: {
      containers: [
        { name: "foundationdb", env: [{ name: "FDB_BLOB_CREDENTIALS", value: "/credentials" }] },
      ],
    },
  },
};

test("[BK42] lines of a tool are told apart", () => {
  const said = (message: string): string => {
    const end = commandEnd(scene, commandPodOf(planBackup(scene), { exitCode: 1, message }));
    assert.ok(end);
    return troubleOf(backupWith({}), { program: "fdbbackup", type: "start" }, end).message;
  };
  const first = "ERROR: region is required for aws v4 signature";
  const second = "Try `fdbbackup --help' for more information.";
  assert.ok(said(`${first}\n\n  ${second}\n`).endsWith(`${first}; ${second}`));
  assert.ok(said(`Something:\n${second}`).endsWith(`Something: ${second}`));
});

test("[BK42] each cause that can be told apart has its own reason", () => {
  const timedOut = "ERROR: Could not create backup container: Operation timed out";
  const table: [string, string][] = [
    [reasonFor(timedOut), "BackupCredentialsMissing"],
    [reasonFor(timedOut, 1, credentials), "BackupStoreUnreachable"],
    [reasonFor("Fatal Error: Network connection failed", 1, credentials), "BackupStoreUnreachable"],
    [
      reasonFor("ERROR: HTTP response code not received or indicated failure"),
      "BackupStoreRefused",
    ],
    [reasonFor("SIGNAL: Segmentation fault (11)", 139), "BackupStoreRefused"],
    [reasonFor("OOMKilled", 137), "BackupCommandFailed"],
    [reasonFor("", 143), "BackupCommandFailed"],
    [
      reasonFor(
        "ERROR: 'Backup Container URL invalid' on URL 'blobstore://k@h:1/x?bucket=b': Failed to get region from host or parameter in url, region is required for aws v4 signature",
        10,
      ),
      "BackupUrlInvalid",
    ],
    [
      reasonFor("ERROR: The provided encryption key file has invalid contents"),
      "BackupKeyUnusable",
    ],
    [
      reasonFor("ERROR: Missing backup data\nFatal Error: Missing backup data"),
      "BackupDataDamaged",
    ],
    [reasonFor("Fatal Error: Corrupted backup data"), "BackupDataDamaged"],
    [
      reasonFor("Fatal Error: Corrupted backup data", 1, { encryptionKeyPath: "/key" }),
      "BackupKeyUnusable",
    ],
    [reasonFor("ERROR: something new"), "BackupCommandFailed"],
  ];
  for (const [found, expected] of table) assert.equal(found, expected);
});

test("[BK2][BK42] no secret that a tool quotes is repeated", () => {
  const message = "ERROR: 'Backup Container URL invalid' on URL 'blobstore://k:s3cr3t@h:1/x': no";
  const pod = commandPodOf(planBackup(scene), { exitCode: 10, message });
  const { waits } = planBackup({ ...scene, commandPods: [pod] });
  assert.equal(waits[0]?.reason, "BackupUrlInvalid");
  assert.ok(!JSON.stringify(waits).includes("s3cr3t"));
});

test("[BK40] a command ends with its main container, or with its pod", () => {
  const running = commandPodOf(planBackup(scene));
  assert.equal(commandEnd(scene, running), undefined);
  const beside = commandPodOf(planBackup(scene), { exitCode: 0 });
  assert.equal(beside.status?.phase, "Running");
  assert.equal(commandEnd(scene, beside)?.isSuccess, true);
  const late = {
    ...commandPodOf(planBackup(scene), { exitCode: 137 }),
    status: { ...beside.status, phase: "Failed", reason: "DeadlineExceeded" },
  };
  const end = commandEnd(scene, late);
  assert.deepEqual(
    [end?.isSuccess, end?.exitCode, end?.message],
    [false, undefined, "DeadlineExceeded"],
  );
  const unseen = {
    ...running,
    status: { phase: "Failed", reason: "Evicted", message: "no memory" },
  };
  assert.equal(commandEnd(scene, unseen)?.message, "Evicted: no memory");
});

test("[BK45] a pod that no node takes is made again, one that runs is left alone", () => {
  const pod = (minutesAgo: number, startTime?: string): ReturnType<typeof commandPodOf> => {
    const made = commandPodOf(planBackup(scene));
    const creationTimestamp = formatTime(nowMs - minutesAgo * 60_000);
    const status = { phase: "Pending", ...(startTime === undefined ? {} : { startTime }) };
    return { ...made, metadata: { ...made.metadata, creationTimestamp }, status };
  };
  assert.deepEqual(gistOf({ ...scene, commandPods: [pod(4)] }).does, []);
  const unplaced = gistOf({ ...scene, commandPods: [pod(6)] });
  assert.deepEqual(unplaced, { does: ["deletePod"], waits: ["BackupCommandRunning"] });
  assert.deepEqual(gistOf({ ...scene, commandPods: [pod(6, "2026-11-16T07:55:00Z")] }).does, []);
});

test("[BK49] pods of commands that ended are kept for ten minutes", () => {
  const rested = sceneOf();
  const pod = (secondsAgo: number): ReturnType<typeof commandPodOf> =>
    commandPodOf(planBackup(scene), { exitCode: 0, secondsAgo });
  assert.deepEqual(gistOf({ ...rested, commandPods: [pod(599)] }).does, []);
  assert.deepEqual(gistOf({ ...rested, commandPods: [pod(601)] }).does, ["deletePod"]);
  assert.equal(rested.nowMs, nowMs);
});
