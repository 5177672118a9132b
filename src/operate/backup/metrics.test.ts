// Gauges of backups. Rules: spec/backup.md [BK99].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { MetricsRegistry } from "../../env/metrics.ts";
import type { Stored } from "../../kube/resource.ts";
import { planBackup, sceneOf } from "../../../test/fixtures/backup-scene.ts";
import { registerBackupMetrics } from "./metrics.ts";

test("[BK99] a backup has its conditions, waits, lag and bytes, and takes them along", () => {
  const registry = new MetricsRegistry();
  const scene = sceneOf();
  const backup = {
    ...scene.backup,
    status: planBackup(scene).status,
  } as Stored<FoundationDBBackup>;
  let backups = [backup];
  let lagMs: number | undefined = 12_000;
  registerBackupMetrics(registry, { backups: () => backups, lagMs: () => lagMs });
  const lines = (): string[] =>
    registry
      .text()
      .split("\n")
      .filter((line) => line.startsWith("fdb_operator_backup_"));
  const text = lines().join("\n");
  const labels = 'namespace="ns",name="nightly"';
  assert.ok(text.includes(`fdb_operator_backup_lag_seconds{${labels}} 12`), text);
  assert.ok(text.includes(`fdb_operator_backup_condition{${labels},condition="Restorable"} 1`));
  assert.ok(text.includes(`fdb_operator_backup_condition{${labels},condition="Behind"} 0`));
  assert.ok(text.includes(`fdb_operator_backup_blocked{${labels},reason="BackupErrors"} 0`));
  assert.ok(text.includes(`fdb_operator_backup_written_bytes{${labels}} 300`));
  assert.ok(!text.includes("last_success"));
  const lastSuccess = "2026-11-16T03:01:00Z";
  backups = [{ ...backup, status: { ...backup.status, lastSuccess } }];
  const seconds = Date.parse(lastSuccess) / 1000;
  const told = `fdb_operator_backup_last_success_timestamp_seconds{${labels}} ${seconds}`;
  assert.ok(lines().includes(told), lines().join("\n"));
  const lastVerification = {
    ...{ time: "2026-11-16T04:00:00Z", result: "Failed" as const },
    lastPassed: "2026-11-09T04:11:00Z",
  };
  backups = [{ ...backup, status: { ...backup.status, lastVerification } }];
  const verified = Date.parse(lastVerification.lastPassed) / 1000;
  assert.ok(
    lines().includes(`fdb_operator_backup_last_verified_timestamp_seconds{${labels}} ${verified}`),
  );
  assert.ok(lines().includes(`fdb_operator_backup_verification_failed{${labels}} 1`));
  lagMs = undefined;
  assert.ok(!lines().some((line) => line.includes("lag_seconds")));
  backups = [];
  assert.deepEqual(lines(), []);
});
