// What a drill is made of: a cluster from the template of the backup, a restore into it, and the pod of the user's check. All
// of it has the name of the drill, belongs to the backup and carries a label, so that it is found again and removed.
// Carries the rules BK162, BK164 and BK167 of spec/backup.md.
import { createHash } from "node:crypto";
import type { FoundationDBBackup } from "../api/backup.ts";
import { apiVersion, foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { foundationDbRestores } from "../api/restore.ts";
import type { FoundationDBRestore } from "../api/restore.ts";
import type { Container, Pod } from "../kube/generated/types.ts";
import type { ObjectMeta } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { clusterFileKey, configMapName } from "./config-map.ts";
import { ownerReferenceTo } from "./labels.ts";

/** On all objects of a drill: its name. */
export const drillLabel = "foundationdb.org/backup-drill";

/** So much of the name of the backup is in the name of a drill; hosts are named after clusters and must stay short. */
const backupNameLength = 20;

/** The same for the same backup and time, and of no other backup. */
export function drillNameOf({ metadata }: FoundationDBBackup, time: string): string {
  const { name = "", uid = "" } = metadata;
  const hash = createHash("sha256").update(`${uid} ${time}`).digest("hex").slice(0, 8);
  const shown = name.replaceAll(/[^a-z0-9-]/g, "-").slice(0, backupNameLength);
  return `drill-${shown.replace(/-+$/, "")}-${hash}`;
}

export function drillCluster(
  backup: FoundationDBBackup,
  name: string,
  sourceVersion: string,
): Stored<FoundationDBCluster> {
  const { metadata, spec } = backup.spec.verification?.template ?? { spec: {} };
  const { annotations } = metadata ?? {};
  return {
    apiVersion,
    kind: foundationDbClusters.kind,
    metadata: {
      ...metadataOf(backup, name, { ...backup.metadata.labels, ...metadata?.labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: { ...spec, version: spec.version ?? sourceVersion },
  };
}

export function drillRestore(
  backup: FoundationDBBackup,
  name: string,
): Stored<FoundationDBRestore> {
  return {
    apiVersion,
    kind: foundationDbRestores.kind,
    metadata: metadataOf(backup, name, backup.metadata.labels),
    spec: {
      destinationClusterName: name,
      fromBackup: backup.metadata.name ?? "",
      to: { latest: true },
    },
  };
}

/** An operator may look after resources with certain labels only: what the backup has, its drills have too. */
function metadataOf(
  backup: FoundationDBBackup,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  drillName = name,
): ObjectMeta {
  const { namespace } = backup.metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...labels, [drillLabel]: drillName },
    ownerReferences: [ownerReferenceTo(backup)],
  };
}

const checkFolder = "/var/fdb-drill";
const clusterFileName = "fdb.cluster";
const clusterFileVolume = "fdb-drill-cluster-file";
/** A check that names no deadline. */
const checkSeconds = 3_600;

/** The container whose exit code is the answer of the check. */
export function checkContainerName({ spec }: FoundationDBBackup): string {
  return spec.verification?.check?.spec?.containers[0]?.name ?? "";
}

export function checkPod(backup: FoundationDBBackup, name: string): Stored<Pod> {
  const { metadata = {}, spec = { containers: [] } } = backup.spec.verification?.check ?? {};
  const own = Object.entries(metadata.labels ?? {}).filter(
    ([key]) => !key.startsWith("foundationdb.org/"),
  );
  const items = [{ key: clusterFileKey, path: clusterFileName }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadataOf(backup, `${name}-check`, Object.fromEntries(own), name),
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
    },
    spec: {
      ...spec,
      containers: spec.containers.map(checkContainer),
      volumes: [
        ...(spec.volumes ?? []),
        { name: clusterFileVolume, configMap: { name: configMapName(name), items } },
      ],
      restartPolicy: "Never",
      activeDeadlineSeconds: spec.activeDeadlineSeconds ?? checkSeconds,
    },
  };
}

function checkContainer(container: Container): Container {
  const { env = [], volumeMounts = [] } = container;
  const file = { name: "FDB_CLUSTER_FILE", value: `${checkFolder}/${clusterFileName}` };
  return {
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...container,
    env: [...env.filter(({ name }) => name !== file.name), file],
    volumeMounts: [
      ...volumeMounts,
      { name: clusterFileVolume, mountPath: checkFolder, readOnly: true },
    ],
  };
}
