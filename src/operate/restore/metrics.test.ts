// Gauges of restores. Rules: spec/restore.md [RS84].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { MetricsRegistry } from "../../env/metrics.ts";
import { datedPlan } from "../dated-plan.ts";
import type { Stored } from "../../kube/resource.ts";
import { planRestore } from "../../plan/restore/chain.ts";
import { recordWith, sceneOf, seen } from "../../../test/fixtures/restore-scene.ts";
import { registerRestoreMetrics } from "./metrics.ts";

test("[RS84] a restore has its conditions, waits, progress and bytes, and takes them along", () => {
  const registry = new MetricsRegistry();
  const scene = sceneOf(seen([recordWith()], { lockUid: "u1" }));
  const { status } = datedPlan(planRestore(scene), [], scene.nowMs);
  let restores = [{ ...scene.restore, status } as Stored<FoundationDBRestore>];
  registerRestoreMetrics(registry, () => restores);
  const lines = (): string[] =>
    registry
      .text()
      .split("\n")
      .filter((line) => line.startsWith("fdb_operator_restore_"));
  const text = lines().join("\n");
  const labels = 'namespace="ns",name="back"';
  assert.ok(text.includes(`fdb_operator_restore_progress_ratio{${labels}} 0.5`), text);
  assert.ok(text.includes(`fdb_operator_restore_condition{${labels},condition="Running"} 1`));
  assert.ok(text.includes(`fdb_operator_restore_condition{${labels},condition="Completed"} 0`));
  assert.ok(text.includes(`fdb_operator_restore_blocked{${labels},reason="RestoreRunning"} 1`));
  assert.ok(text.includes(`fdb_operator_restore_written_bytes{${labels}} 1000`));
  restores = [];
  assert.deepEqual(lines(), []);
});
