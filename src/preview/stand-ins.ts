// Things that the objects of a picture refer to and that are not in it, in their plainest form: without them pods of the
// copy could not start. Pure. Rule PV2.
import type {
  Container,
  Node,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";

export interface StandIns {
  readonly objects: readonly KubeObject[];
  readonly notes: readonly string[];
}

export function standIns(given: readonly KubeObject[], namespace: string): StandIns {
  const has = (kind: string, name: string): boolean =>
    given.some((object) => object.kind === kind && object.metadata.name === name);
  const pods = given.filter(({ kind }) => kind === "Pod") as Stored<Pod>[];
  const claims = given.filter(
    ({ kind }) => kind === "PersistentVolumeClaim",
  ) as Stored<PersistentVolumeClaim>[];
  const nodeNames = sortedNames(pods.map(({ spec }) => spec?.nodeName));
  const missingNodes = nodeNames.filter((name) => !has("Node", name));
  const missingVolumes = claims.filter(
    ({ spec, status }) =>
      status?.phase === "Bound" && !has("PersistentVolume", spec?.volumeName ?? ""),
  );
  const accounts = sortedNames(pods.map(({ spec }) => spec?.serviceAccountName)).filter(
    (name) => name !== "default" && !has("ServiceAccount", name),
  );
  const files = [...filesOfPods(pods)].filter(([name]) => !has("Secret", name));
  return {
    objects: [
      ...(has("Namespace", namespace) ? [] : [namespaceOf(namespace)]),
      ...missingNodes.map((name) => nodeOf(name, pods)),
      ...missingVolumes.map(volumeOf),
      ...accounts.map((name) => objectOf("ServiceAccount", namespace, name)),
      ...files.map(([name, keys]) => secretOf(namespace, name, keys)),
    ],
    notes: [
      ...(missingNodes.length === 0
        ? []
        : ["the nodes are not in the picture: in the copy they have room for everything"]),
      ...(missingVolumes.length === 0
        ? []
        : ["the volumes are not in the picture: in the copy every node can reach them"]),
      ...files.map(([name]) => `secret ${name} is not in the picture: in the copy it is there`),
    ],
  };
}

function sortedNames(names: readonly (string | undefined)[]): string[] {
  const given = new Set<string>();
  for (const name of names) if (name !== undefined && name !== "") given.add(name);
  return [...given].toSorted();
}

function objectOf(kind: string, namespace: string, name: string): KubeObject {
  return { apiVersion: "v1", kind, metadata: { namespace, name, uid: `stand-in-${kind}-${name}` } };
}

function namespaceOf(name: string): KubeObject {
  const metadata = { name, uid: `stand-in-namespace-${name}` };
  const object = { apiVersion: "v1", kind: "Namespace", metadata };
  return {
    ...object,
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  } as KubeObject;
}

/** With room for everything, since nothing is known of its size. */
function nodeOf(name: string, pods: readonly Stored<Pod>[]): Stored<Node> {
  const capacity = { cpu: "1000", memory: "10Ti", pods: "1000", "ephemeral-storage": "10Ti" };
  const hostIp = pods.find(({ spec }) => spec?.nodeName === name)?.status?.hostIP ?? "";
  return {
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: {
      ...{ name, uid: `stand-in-node-${name}` },
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" },
    },
    status: {
      ...{ capacity, allocatable: capacity },
      addresses: [{ type: "InternalIP", address: hostIp }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

function volumeOf(claim: Stored<PersistentVolumeClaim>): KubeObject {
  const { uid = "", namespace, name } = claim.metadata;
  const { volumeName = "", storageClassName, accessModes } = claim.spec ?? {};
  const { capacity = claim.spec?.resources?.requests ?? {} } = claim.status ?? {};
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolume" },
    metadata: { name: volumeName, uid: `stand-in-volume-${uid}` },
    spec: {
      ...{ accessModes, capacity, storageClassName },
      ...{ persistentVolumeReclaimPolicy: "Delete", volumeMode: "Filesystem" },
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
    },
    status: { phase: "Bound" },
  } as KubeObject;
}

function secretOf(namespace: string, name: string, keys: ReadonlySet<string>): Stored<Secret> {
  const sorted = [...keys].toSorted();
  const data = Object.fromEntries(sorted.map((key) => [key, "c3RhbmQtaW4="]));
  return { ...objectOf("Secret", namespace, name), data };
}

/** Which keys of which secrets the pods look for. */
function filesOfPods(pods: readonly Stored<Pod>[]): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  const note = (name: string | undefined, keys: readonly string[]): void => {
    if (name === undefined) return;
    const known = files.get(name) ?? new Set();
    files.set(name, known);
    for (const key of keys) known.add(key);
  };
  for (const { spec } of pods) {
    const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    for (const { name, secret, projected } of spec?.volumes ?? []) {
      const mounted = mountedFiles(containers, name);
      note(secret?.secretName, [...(secret?.items ?? []).map(({ key }) => key), ...mounted]);
      for (const source of projected?.sources ?? []) {
        const items = (source.secret?.items ?? []).map(({ key }) => key);
        note(source.secret?.name, [...items, ...mounted]);
      }
    }
    for (const { env = [], envFrom = [] } of containers) {
      for (const { valueFrom } of env) {
        const { name, key } = valueFrom?.secretKeyRef ?? {};
        note(name, key === undefined ? [] : [key]);
      }
      for (const { secretRef } of envFrom) note(secretRef?.name, []);
    }
  }
  return files;
}

/** Files in a volume that environment variables name, as those of certificates do. */
function mountedFiles(containers: readonly Container[], volume: string): string[] {
  return containers.flatMap(({ env = [], volumeMounts = [] }) =>
    volumeMounts
      .filter(({ name }) => name === volume)
      .flatMap(({ mountPath }) =>
        env
          .map(({ value = "" }) => value)
          .filter((value) => value.startsWith(`${mountPath}/`))
          .map((value) => value.slice(mountPath.length + 1))
          .filter((file) => !file.includes("/")),
      ),
  );
}
