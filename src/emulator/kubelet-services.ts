// Service addresses and DNS names of pods, as kube-proxy and the cluster's DNS provide them. Each
// service is filed under its rarest selector pair, so that a change of one pod visits few
// services. Carries rules KUBELET27, KUBELET28.
import { conditionIn } from "../kube/condition.ts";
import type { Pod, Service } from "../kube/generated/types.ts";
import { keyOf, keyText } from "../kube/path.ts";
import { pods, services } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { KubeletCore } from "./kubelet-core.ts";

interface Filed {
  readonly service: Stored<Service>;
  readonly bucket: string;
  /** Reachable pods by key. */
  readonly members: Map<string, Stored<Pod>>;
}

export class ServiceRouter {
  readonly #core: KubeletCore;
  readonly #filed = new Map<string, Filed>();
  readonly #buckets = new Map<string, Set<Filed>>();
  /** Names that a pod has in DNS, by the pod's key. */
  readonly #hostNames = new Map<string, string>();

  constructor(core: KubeletCore) {
    this.#core = core;
  }

  start(): void {
    this.#core.informers.of(services).onChange(({ type, object }) => {
      this.#remove(keyText(keyOf(object)));
      if (type !== "DELETED") this.#add(object);
    });
    this.#core.informers.of(pods).onChange(({ type, object, old }) => {
      if (old !== undefined && isSameForNetwork(old, object) && type !== "DELETED") return;
      const isGone = type === "DELETED";
      for (const filed of this.#candidates(object)) this.#place(filed, object, isGone);
      this.#publishName(object, isGone);
    });
  }

  #add(service: Stored<Service>): void {
    const selector = Object.entries(service.spec?.selector ?? {});
    if (selector.length === 0) return;
    const namespace = service.metadata.namespace ?? "";
    const buckets = selector.map(([key, value]) => bucketName(namespace, key, value));
    const size = (name: string): number => this.#buckets.get(name)?.size ?? 0;
    const bucket = buckets.reduce((best, name) => (size(name) < size(best) ? name : best));
    const filed: Filed = { service, bucket, members: new Map() };
    this.#filed.set(keyText(keyOf(service)), filed);
    const held = this.#buckets.get(bucket) ?? new Set();
    this.#buckets.set(bucket, held.add(filed));
    for (const pod of this.#core.informers.of(pods).list()) this.#place(filed, pod, false);
  }

  #remove(key: string): void {
    const filed = this.#filed.get(key);
    if (filed === undefined) return;
    this.#filed.delete(key);
    this.#buckets.get(filed.bucket)?.delete(filed);
    const members = [...filed.members.values()];
    filed.members.clear();
    this.#route(filed);
    for (const pod of members) this.#publishName(pod, false);
  }

  #candidates(pod: Pod): Filed[] {
    const namespace = pod.metadata.namespace ?? "";
    return Object.entries(pod.metadata.labels ?? {}).flatMap(([key, value]) => [
      ...(this.#buckets.get(bucketName(namespace, key, value)) ?? []),
    ]);
  }

  #place(filed: Filed, pod: Stored<Pod>, isGone: boolean): void {
    const key = keyText(keyOf(pod));
    const isMember = !isGone && isBehind(filed.service, pod);
    if (!isMember && !filed.members.has(key)) return;
    if (isMember) filed.members.set(key, pod);
    else filed.members.delete(key);
    this.#route(filed);
    this.#publishName(pod, isGone);
  }

  #route({ service, members }: Filed): void {
    const clusterIps = service.spec?.clusterIPs ?? [service.spec?.clusterIP ?? "None"];
    for (const clusterIp of clusterIps) {
      if (clusterIp === "None" || clusterIp === "") continue;
      const isIpv6 = clusterIp.includes(":");
      const backends = [...members.values()].flatMap((pod) =>
        (pod.status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => ip.includes(":") === isIpv6),
      );
      this.#core.network.setService(clusterIp, backends);
    }
  }

  /**
   * A pod with host name and subdomain has a DNS name while a headless service of that name has it.
   */
  #publishName(pod: Stored<Pod>, isGone: boolean): void {
    const key = keyText(keyOf(pod));
    const { hostname, subdomain } = pod.spec ?? {};
    const namespace = pod.metadata.namespace ?? "";
    const filed = this.#filed.get(`${namespace}/${subdomain ?? ""}`);
    const isNamed =
      !isGone &&
      hostname !== undefined &&
      filed?.service.spec?.clusterIP === "None" &&
      filed.members.has(key);
    const known = this.#hostNames.get(key);
    if (isNamed) {
      const name = `${hostname}.${subdomain ?? ""}.${namespace}.svc.${this.#core.options.dnsDomain}`;
      this.#hostNames.set(key, name);
      this.#core.network.setHostName(name, addressesFor(filed.service, pod));
    } else if (known !== undefined) {
      this.#hostNames.delete(key);
      this.#core.network.setHostName(known, []);
    }
  }
}

/** DNS tells the addresses of the service's families only. */
function addressesFor(service: Service, pod: Pod): string[] {
  const families = service.spec?.ipFamilies;
  return (pod.status?.podIPs ?? [])
    .map(({ ip }) => ip)
    .filter((ip) => families?.includes(ip.includes(":") ? "IPv6" : "IPv4") ?? true);
}

function isBehind(service: Service, pod: Pod): boolean {
  if (service.metadata.namespace !== pod.metadata.namespace) return false;
  const selector = Object.entries(service.spec?.selector ?? {});
  const labels = pod.metadata.labels ?? {};
  if (selector.length === 0 || selector.some(([key, value]) => labels[key] !== value)) return false;
  if ((pod.status?.podIPs ?? []).length === 0) return false;
  if (pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") return false;
  return service.spec?.publishNotReadyAddresses === true || isReady(pod);
}

export function isReady(pod: Pod): boolean {
  return conditionIn(pod.status, "Ready")?.status === "True";
}

function isSameForNetwork(old: Pod, pod: Pod): boolean {
  return (
    isReady(old) === isReady(pod) &&
    old.status?.phase === pod.status?.phase &&
    old.status?.podIP === pod.status?.podIP &&
    JSON.stringify(old.metadata.labels) === JSON.stringify(pod.metadata.labels)
  );
}

function bucketName(namespace: string, key: string, value: string): string {
  return `${namespace} ${key}=${value}`;
}
