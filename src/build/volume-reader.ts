// A pod that reads the connection string from a volume on which nothing runs yet: one container of the image of the servers, which
// mounts the volume to read only, copies fdb.cluster to where the kubelet looks for last words, and ends. It gets no token and
// carries no label of the cluster, so that nobody takes it for a server. Carries rule ADO13 of spec/adoption.md.
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Container, PersistentVolumeClaim, Pod, PodSpec } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { connectionStringIn } from "../model/connection-string.ts";
import { ownerReferenceTo } from "./labels.ts";
import { mainContainerName } from "./normalise.ts";

/** On a reader: the uid of its cluster. */
export const readerForLabel = "foundationdb.org/volume-reader-for";
const claimAnnotation = "foundationdb.org/volume-claim";
const claimUidAnnotation = "foundationdb.org/volume-claim-uid";

const clusterFile = "/var/fdb/data/fdb.cluster";
const lastWords = "/dev/termination-log";
/** With room for pulling the image. */
const deadlineSeconds = 300;

const resources = {
  requests: { cpu: "10m", memory: "32Mi" },
  limits: { cpu: "100m", memory: "64Mi" },
};

/** Of the pod that will run on the volume, where it may run and as whom. */
const keptFields = [
  ...["nodeSelector", "tolerations", "securityContext", "imagePullSecrets", "schedulerName"],
  ...["runtimeClassName", "priorityClassName", "preemptionPolicy"],
] as const;

/** `server` is the pod that the volume is for; undefined when it has no container with the volume. */
export function volumeReader(
  cluster: FoundationDBCluster,
  claim: Stored<PersistentVolumeClaim>,
  server: Stored<Pod>,
): Stored<Pod> | undefined {
  const { name: claimName = "", uid: claimUid = "" } = claim.metadata;
  const { containers = [], volumes = [] } = server.spec ?? {};
  const main = containers.find(({ name }) => name === mainContainerName);
  const volume = volumes.find((each) => each.persistentVolumeClaim?.claimName === claimName);
  const mounted = main?.volumeMounts?.filter(({ name }) => name === volume?.name) ?? [];
  if (main === undefined || volume === undefined || mounted.length === 0) return undefined;
  const { image, imagePullPolicy, securityContext } = main;
  const container: Container = {
    name: mainContainerName,
    image,
    ...(imagePullPolicy && { imagePullPolicy }),
    ...(securityContext && { securityContext }),
    command: ["cp", clusterFile, lastWords],
    resources,
    volumeMounts: mounted.map((mount) => ({ ...mount, readOnly: true })),
    terminationMessagePath: lastWords,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
  const { namespace = "", uid = "" } = cluster.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: readerName(claimName, uid),
      namespace,
      labels: { [readerForLabel]: uid },
      annotations: { [claimAnnotation]: claimName, [claimUidAnnotation]: claimUid },
      ownerReferences: [ownerReferenceTo(cluster)],
    },
    spec: {
      ...kept(server.spec),
      volumes: [volume],
      containers: [container],
      restartPolicy: "Never",
      activeDeadlineSeconds: deadlineSeconds,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
    },
  };
}

function kept(spec: PodSpec | undefined): Partial<PodSpec> {
  const entries = Object.entries(spec ?? {});
  return Object.fromEntries(
    entries.filter(([key]) => (keptFields as readonly string[]).includes(key)),
  );
}

const nameLengthMax = 253;

/** A reader of a resource before this one may still be there. */
function readerName(claimName: string, clusterUid: string): string {
  const suffix = `-reader-${clusterUid.slice(0, 8)}`;
  return `${claimName.slice(0, nameLengthMax - suffix.length)}${suffix}`;
}

export function isVolumeReader({ metadata }: { metadata: { labels?: Record<string, string> } }) {
  return metadata.labels?.[readerForLabel] !== undefined;
}

/** The claim whose volume it reads. */
export function claimOfReader({ metadata }: Stored<Pod>): { name: string; uid: string } {
  const { annotations = {} } = metadata;
  return { name: annotations[claimAnnotation] ?? "", uid: annotations[claimUidAnnotation] ?? "" };
}

/** What a reader found: nothing yet, the text of the file, or why there is none. */
export type Reading =
  | { readonly kind: "pending"; readonly why: string }
  | { readonly kind: "read"; readonly text: string }
  | { readonly kind: "failed"; readonly why: string };

export function readingOf({ metadata, status }: Stored<Pod>): Reading {
  const { phase = "Pending", reason, message } = status ?? {};
  // A webhook may have given the pod containers that do not end.
  const container = status?.containerStatuses?.find(({ name }) => name === mainContainerName);
  const { terminated, waiting } = container?.state ?? {};
  if (metadata.deletionTimestamp !== undefined) return { kind: "pending", why: "being deleted" };
  if (terminated?.exitCode === 0) {
    return { kind: "read", text: connectionStringIn(terminated.message ?? "") };
  }
  if (terminated !== undefined || phase === "Failed") {
    const why = terminated?.message?.trim() || message || terminated?.reason || reason;
    return { kind: "failed", why: why ?? "its pod failed" };
  }
  const unplaced = status?.conditions?.find(
    ({ type, status: is }) => type === "PodScheduled" && is === "False",
  );
  return { kind: "pending", why: waiting?.reason ?? unplaced?.reason ?? phase };
}
