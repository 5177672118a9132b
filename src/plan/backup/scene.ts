// A backup and its surroundings for the tests of its plan, with whatever a test wants to change.
import type { BackupSpec, BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import { apiVersion } from "../../api/cluster.ts";
import { clusterWith } from "../../build/build-fixture.ts";
import { agentDeployment } from "../../build/backup-deployment.ts";
import type { BackupLayer, BackupRecord } from "../../fdb/backup-layer.ts";
import type { Deployment, Pod } from "../../kube/generated/types.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { planBackup } from "./chain.ts";
import type { BackupPlan } from "./chain.ts";
import type { BackupSnapshot } from "./snapshot.ts";

export const nowMs = Date.UTC(2026, 10, 16, 8);
export const nightlyUrl = "blobstore://account@host:443/nightly?bucket=fdb-backups";

export function backupWith(
  spec: Partial<BackupSpec> = {},
  status: BackupStatus = {},
  metadata: Partial<ObjectMeta> = {},
): FoundationDBBackup {
  return {
    apiVersion,
    kind: "FoundationDBBackup",
    metadata: {
      name: "nightly",
      namespace: "ns",
      uid: "b-1",
      generation: 3,
      creationTimestamp: "2026-11-01T00:00:00Z",
      ...metadata,
    },
    spec: {
      version: "7.3.63",
      clusterName: "sample",
      blobStoreConfiguration: { accountName: "account@host" },
      ...spec,
    },
    status,
  };
}

export function recordWith(change: Partial<BackupRecord> = {}): BackupRecord {
  return {
    uid: "u1",
    state: "RunningDifferentially",
    url: nightlyUrl,
    snapshotSeconds: 864_000,
    stopsWhenDone: false,
    logBytes: 100,
    rangeBytes: 200,
    restorableFrom: 50_000_000,
    restorableTo: 100_000_000,
    errors: [],
    ...change,
  };
}

export function layerWith(
  record: BackupRecord | undefined,
  change: Partial<BackupLayer> = {},
): BackupLayer {
  const newest = { seconds: nowMs / 1000 - 2, version: 110_000_000 };
  const times = [newest, { seconds: newest.seconds - 10, version: 100_000_000 }];
  const looked = { fromTime: undefined, toTime: undefined, retainedFrom: undefined };
  return { isPaused: false, record, times, ...looked, otherWriters: [], ...change };
}

/** The Deployment as the spec wants it, with all its agents ready. */
export function readyDeployment(backup: FoundationDBBackup): Stored<Deployment> | undefined {
  const built = agentDeployment(backup);
  if (!built.ok || built.value === undefined) return undefined;
  const replicas = built.value.spec?.replicas ?? 0;
  const status = {
    observedGeneration: 1,
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
  };
  const metadata = { ...built.value.metadata, generation: 1, uid: "d-1", resourceVersion: "7" };
  return { ...built.value, metadata, status };
}

/** Everything as it should be for a running backup. */
export function sceneOf(change: Partial<BackupSnapshot> = {}): BackupSnapshot {
  const backup = change.backup ?? backupWith();
  return {
    nowMs,
    serverAheadMs: 0,
    backup,
    cluster: clusterWith({}, { configured: true }),
    deployment: readyDeployment(backup),
    agentPods: [],
    commandPods: [],
    layer: { kind: "seen", layer: layerWith(recordWith()), observedMs: nowMs },
    database: undefined,
    others: [],
    restores: [],
    outputs: new Map(),
    timeMap: undefined,
    times: undefined,
    failures: [],
    facts: {},
    terminalPodMinimumAgeMs: 30_000,
    ...change,
  };
}

export function seen(
  record: BackupRecord | undefined,
  change: Partial<BackupLayer> = {},
  observedMs = nowMs,
): Pick<BackupSnapshot, "layer"> {
  return { layer: { kind: "seen", layer: layerWith(record, change), observedMs } };
}

/** A command pod of an earlier plan with the end that a test gives it; it runs on without one. */
export function commandPodOf(
  plan: BackupPlan,
  end?: { readonly exitCode: number; readonly message?: string; readonly secondsAgo?: number },
): Stored<Pod> {
  const action = plan.actions.find(({ type }) => type === "createCommand");
  if (action?.type !== "createCommand") throw new Error("the plan has no command");
  const { object } = action;
  const metadata = { ...object.metadata, uid: `uid-${object.metadata.name}`, resourceVersion: "5" };
  if (end === undefined) return { ...object, metadata, status: { phase: "Running" } };
  const finishedAt = formatTime(nowMs - (end.secondsAgo ?? 5) * 1000);
  const terminated = { exitCode: end.exitCode, message: end.message ?? "", finishedAt };
  const containerStatuses = [
    {
      name: "foundationdb",
      image: "",
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { terminated },
    },
  ];
  return { ...object, metadata, status: { phase: "Running", containerStatuses } };
}

/** What a plan does and waits for, short enough for a table. */
export function gistOf(scene: BackupSnapshot): { does: string[]; waits: string[] } {
  const { actions, waits } = planBackup(scene);
  return {
    does: actions.map((action) => (action.type === "createCommand" ? action.command : action.type)),
    waits: waits.map(({ reason }) => reason),
  };
}

export { planBackup };
