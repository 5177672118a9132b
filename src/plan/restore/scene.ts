// A restore and its surroundings for the tests of its plan, with whatever a test wants to change.
import { apiVersion } from "../../api/cluster.ts";
import type { FoundationDBRestore, RestoreSpec, RestoreStatus } from "../../api/restore.ts";
import { clusterWith } from "../../build/build-fixture.ts";
import type { RestoreLayer, RestoreRecord } from "../../fdb/restore-layer.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { backupFinalizer } from "../backup/deletion.ts";
import { backupWith, nightlyUrl, nowMs, readyDeployment } from "../backup/scene.ts";
import { planRestore } from "./chain.ts";
import type { RestoreSnapshot } from "./snapshot.ts";

export function restoreWith(
  spec: Partial<RestoreSpec> = {},
  status: RestoreStatus = {},
  metadata: Partial<ObjectMeta> = {},
): FoundationDBRestore {
  return {
    apiVersion,
    kind: "FoundationDBRestore",
    metadata: {
      ...{ name: "back", namespace: "ns", uid: "r-1", generation: 1 },
      creationTimestamp: "2026-11-01T00:00:00Z",
      finalizers: [backupFinalizer],
      ...metadata,
    },
    spec: { destinationClusterName: "sample", fromBackup: "nightly", addPrefix: "old/", ...spec },
    status,
  };
}

export function recordWith(change: Partial<RestoreRecord> = {}): RestoreRecord {
  return {
    ...{ tag: "r-1", uid: "u1", state: "running", url: nightlyUrl, version: 90_000_000 },
    ...{ blocks: 10, blocksFinished: 5, bytes: 1_000 },
    ...{ appliedVersion: 80_000_000, error: undefined },
    ...change,
  };
}

export function layerWith(
  restores: readonly RestoreRecord[] = [],
  change: Partial<RestoreLayer> = {},
): RestoreLayer {
  return { isPaused: false, lockUid: undefined, restores, occupied: undefined, ...change };
}

export function seen(
  restores: readonly RestoreRecord[] = [],
  change: Partial<RestoreLayer> = {},
): Pick<RestoreSnapshot, "layer"> {
  return { layer: { kind: "seen", layer: layerWith(restores, change), observedMs: nowMs } };
}

/** A destination with a backup of its own whose agents are well. */
export function sceneOf(change: Partial<RestoreSnapshot> = {}): RestoreSnapshot {
  const source = backupWith();
  return {
    nowMs,
    serverAheadMs: 0,
    restore: restoreWith(),
    cluster: clusterWith({}, { configured: true }),
    source,
    helpers: [{ backup: source, deployment: readyDeployment(source) }],
    deployment: undefined,
    agentPods: [],
    commandPods: [],
    removals: [],
    ...seen(),
    database: {
      client: {},
      cluster: { layers: { _valid: true, backup: { instances_running: 2 } } },
    },
    others: [],
    timeline: [],
    outputs: new Map(),
    failures: [],
    terminalPodMinimumAgeMs: 30_000,
    ...change,
  };
}

/** What a plan does and waits for, short enough for a table. */
export function gistOf(scene: RestoreSnapshot): { does: string[]; waits: string[] } {
  const { actions, waits } = planRestore(scene);
  return {
    does: actions.map((action) => (action.type === "createCommand" ? action.command : action.type)),
    waits: waits.map(({ reason }) => reason),
  };
}
