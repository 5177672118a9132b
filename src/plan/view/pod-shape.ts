// What a live pod says about itself: image type, number of servers, addresses, what its monitor reported.
// A pod object never changes in place, so each is read once however many passes look at it.
// Rules: spec/plan.md [P15].
import { annotationKeys } from "../../build/labels.ts";
import { mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import { imageTypeOfPod, ipFamilyOfPod, publicIpsOfPod } from "../../build/pod-reading.ts";
import type { Remembering } from "../../env/memory.ts";
import type { Container, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hostOf } from "../../model/address.ts";
import { serversPerPodMaximum } from "../../model/limits.ts";

export interface PodShape {
  imageType: "split" | "unified";
  /** Servers that the pod was made for. */
  servers: number;
  publicIps: readonly string[];
  /** The same without brackets. */
  hosts: readonly string[];
  /** Where the sidecar is reached: a service has no port for it, so it is always an address of the pod. */
  sidecarHost: string | undefined;
  ipFamily: number;
  hasListenIp: boolean;
  isDeleting: boolean;
  /** Values of the variables in the monitor's configuration; undefined while the monitor reported none. */
  environment: Readonly<Record<string, string>> | undefined;
  /** The configuration that the unified monitor runs with, as it wrote it. */
  currentConfiguration: string | undefined;
  sidecarImage: string | undefined;
  /** As its kubelet reports it; behind the other one while the container is being restarted. */
  runningSidecarImage: string | undefined;
  isSidecarReady: boolean;
  /** Tells one run of the sidecar from another: a new pod, a restart and a new address are new runs. */
  sidecarRun: string;
  usesSidecarTls: boolean;
  /** The volume for its data, with the claim that it is; undefined when it has none of that name. */
  dataVolume: { readonly claimName: string | undefined } | undefined;
}

type PodObject = Stored<Pod>;

export function shapeOfPod({ memory }: Remembering, pod: PodObject): PodShape {
  return memory.once(readShape, pod);
}

function readShape(pod: PodObject): PodShape {
  const annotations = pod.metadata.annotations ?? {};
  const containers = pod.spec?.containers ?? [];
  const sidecar = containers.find((container) => container.name === sidecarContainerName);
  const sidecarStatus = pod.status?.containerStatuses?.find(
    (status) => status.name === sidecarContainerName,
  );
  const publicIps = publicIpsOfPod(pod);
  const data = pod.spec?.volumes?.find(({ name }) => name === "data");
  return {
    imageType: imageTypeOfPod(pod),
    servers: serversIn(containers),
    publicIps,
    hosts: publicIps.map(hostOf),
    sidecarHost: sidecarHostOf(pod),
    ipFamily: ipFamilyOfPod(pod),
    hasListenIp: containers.some(hasListenIpVariable),
    isDeleting: pod.metadata.deletionTimestamp !== undefined,
    environment: parseVariables(annotations[annotationKeys.launcherEnvironment]),
    currentConfiguration: annotations[annotationKeys.launcherConfiguration],
    sidecarImage: sidecar?.image,
    runningSidecarImage: sidecarStatus?.image,
    isSidecarReady: sidecarStatus?.ready === true,
    sidecarRun: [pod.metadata.uid, pod.status?.podIP, sidecarStatus?.containerID].join(" "),
    usesSidecarTls: sidecar?.args?.includes("--tls") === true,
    dataVolume: data && { claimName: data.persistentVolumeClaim?.claimName },
  };
}

function sidecarHostOf(pod: PodObject): string | undefined {
  const isBehindService = pod.metadata.annotations?.[annotationKeys.publicIpSource] === "service";
  const [publicIp] = publicIpsOfPod(pod);
  return (isBehindService ? pod.status?.podIP : publicIp) || undefined;
}

/** Of any class: a pod runs processes of one class only. */
function serversIn(containers: readonly Container[]): number {
  for (const container of containers) {
    for (const variable of container.env ?? []) {
      if (!variable.name.endsWith("_SERVERS_PER_POD")) continue;
      const servers = Number(variable.value);
      if (Number.isInteger(servers) && servers > 0) return Math.min(servers, serversPerPodMaximum);
    }
  }
  return 1;
}

function hasListenIpVariable(container: Container): boolean {
  if (container.name !== mainContainerName && container.name !== sidecarContainerName) return false;
  return (container.env ?? []).some((variable) => variable.name === "FDB_POD_IP");
}

/** The monitor writes a JSON object of texts; anything else counts as not reported. */
function parseVariables(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(
      Object.entries(value).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      ),
    );
  } catch {
    // A half-written or foreign annotation is the same as none: the pod counts as not reporting yet.
    return undefined;
  }
}
