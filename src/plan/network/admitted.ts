// Whether peers of a NetworkPolicy let an address in, as far as the operator can tell: blocks of addresses it can judge itself,
// selectors only for pods that it sees, and namespaces only by their names. Rules: spec/network.md [NET12], [NET13], [NET17].
import { publicIpsOfPod } from "../../build/pod-reading.ts";
import type { LabelSelector, NetworkPolicyPeer, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesLabelSelector } from "../../kube/selector.ts";
import { isInsideBlock, parseAddressBlock, parseIpBlock } from "../../model/ip-block.ts";

export type Admission = "yes" | "no" | "unknown";

export interface Caller {
  /** IP address without brackets. */
  readonly host: string;
  /** The pod that has it, where the operator sees one. */
  readonly pod?: Stored<Pod> | undefined;
}

/** `namespace`: of the policy, which peers without a namespace selector mean. */
export function admission(
  peers: readonly NetworkPolicyPeer[],
  caller: Caller,
  namespace: string,
): Admission {
  const found = new Set(peers.map((peer) => admissionBy(peer, caller, namespace)));
  if (found.has("yes")) return "yes";
  return found.has("unknown") ? "unknown" : "no";
}

function admissionBy(peer: NetworkPolicyPeer, caller: Caller, namespace: string): Admission {
  if (peer.ipBlock !== undefined) {
    const hosts = sourcesOf(caller);
    return hosts.length > 0 && hosts.every((host) => isInBlock(peer, host)) ? "yes" : "no";
  }
  const { pod } = caller;
  // Somebody whom nobody sees may be any pod of any namespace.
  if (pod === undefined) return "unknown";
  if (peer.podSelector !== undefined) {
    if (!matchesLabelSelector(peer.podSelector, pod.metadata.labels ?? {})) return "no";
  }
  const own = pod.metadata.namespace ?? "";
  if (peer.namespaceSelector === undefined) return own === namespace ? "yes" : "no";
  return namespaceAdmission(peer.namespaceSelector, own);
}

/** Whether peers could mean a pod of which only the namespace is known. */
export function couldMeanPodIn(
  peers: readonly NetworkPolicyPeer[],
  podNamespace: string,
  namespace: string,
): boolean {
  return peers.some(({ ipBlock, namespaceSelector }) => {
    if (ipBlock !== undefined) return true;
    if (namespaceSelector === undefined) return podNamespace === namespace;
    return namespaceAdmission(namespaceSelector, podNamespace) !== "no";
  });
}

/** Where its connections come from: a pod does not call from the address of its service, nor in another family. */
function sourcesOf({ host, pod }: Caller): readonly string[] {
  if (pod === undefined) return [host];
  return ipsOf(pod).filter((ip) => ip.includes(":") === host.includes(":"));
}

const namespaceNameLabel = "kubernetes.io/metadata.name";

/** The operator does not look at namespaces: of their labels it knows the one that every one has. */
function namespaceAdmission(selector: LabelSelector, name: string): Admission {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
  if (keys.some((key) => key !== namespaceNameLabel)) return "unknown";
  return matchesLabelSelector(selector, { [namespaceNameLabel]: name }) ? "yes" : "no";
}

function isInBlock({ ipBlock }: NetworkPolicyPeer, host: string): boolean {
  const address = parseAddressBlock(host);
  const whole = parseIpBlock(ipBlock?.cidr ?? "");
  if (address === undefined || whole === undefined || !isInsideBlock(whole, address)) return false;
  return !(ipBlock?.except ?? []).some((text) => {
    const part = parseIpBlock(text);
    return part !== undefined && isInsideBlock(part, address);
  });
}

function ipsOf({ status }: Stored<Pod>): readonly string[] {
  const listed = (status?.podIPs ?? []).map(({ ip }) => ip ?? "");
  return [...new Set([status?.podIP ?? "", ...listed])].filter((ip) => ip !== "");
}

/** Pods by every address that a process in them may be known by. */
export function podsByAddress(pods: Iterable<Stored<Pod>>): ReadonlyMap<string, Stored<Pod>> {
  const found = new Map<string, Stored<Pod>>();
  for (const pod of pods) {
    for (const ip of [...ipsOf(pod), ...publicIpsOfPod(pod)]) found.set(ip, pod);
  }
  return found;
}
