// What of a picture goes where in the copy: which objects are stored first, which machines there are, and what stands in
// for things that the pods refer to and that are not in the picture. Pure. Rule PV2.
import { foundationDbClusters } from "../api/cluster.ts";
import { blockOf } from "../emulator/address-block.ts";
import type { EmulatedNode } from "../emulator/kubelet-core.ts";
import { conditionIn } from "../kube/condition.ts";
import type { Node, Pod, Service } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import {
  configMaps,
  namespaces,
  networkPolicies,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  secrets,
  serviceAccounts,
  services,
  storageClasses,
} from "../kube/resource.ts";
import type { Resource, Stored } from "../kube/resource.ts";
import { nanosOf } from "../model/quantity.ts";
import type { OtherRequests, Picture } from "./picture.ts";
import { standIns } from "./stand-ins.ts";
import { otherArguments } from "./trouble-before.ts";

export interface Stage {
  /** There before anything runs. */
  readonly ground: readonly KubeObject[];
  /** In the order in which they refer to each other. */
  readonly objects: readonly KubeObject[];
  readonly machines: readonly EmulatedNode[];
  readonly runningPods: ReadonlySet<string>;
  /** Where new addresses come from, apart from those that are in use. */
  readonly addressBlock: number;
  readonly dnsDomain: string;
  /** IP addresses of pods and services of the picture. */
  readonly addresses: ReadonlySet<string>;
  readonly notes: readonly string[];
}

/** All kinds that a copy can have, in the order in which they are stored. */
const groundKinds = [namespaces, nodes, persistentVolumes];
const laterKinds = [
  ...[storageClasses, foundationDbClusters, serviceAccounts, configMaps, secrets, services],
  ...[persistentVolumeClaims, podDisruptionBudgets, networkPolicies, pods],
];

export function resourceOfObject({ kind }: KubeObject): Resource<unknown> | undefined {
  return [...groundKinds, ...laterKinds].find((resource) => resource.kind === kind);
}

export function stageOf(picture: Picture): Stage {
  const given = [picture.cluster as KubeObject, ...picture.objects];
  const standing = standIns(given, picture.cluster.metadata.namespace ?? "default");
  const uids = new Set(given.map(({ metadata }) => metadata.uid));
  const all = [...given, ...standing.objects].map((object) => withKnownOwners(object, uids));
  const ofKind = <T>(resource: Resource<T>): T[] =>
    all.filter(({ kind }) => kind === resource.kind) as T[];
  const nodeList = ofKind<Stored<Node>>(nodes);
  const podList = ofKind<Stored<Pod>>(pods);
  const roomy = nodeList.map((node) => withoutRequests(node, picture.otherRequests));
  const strange = all.filter((object) => resourceOfObject(object) === undefined);
  const addresses = new Set([
    ...podList.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip)),
    ...ofKind<Stored<Service>>(services).flatMap(({ spec }) => spec?.clusterIPs ?? []),
  ]);
  return {
    ground: groundKinds.flatMap((kind): KubeObject[] =>
      kind === nodes ? roomy : ofKind(kind as Resource<KubeObject>),
    ),
    objects: laterKinds.flatMap((kind) => ofKind(kind as Resource<KubeObject>)),
    machines: nodeList.filter(isUp).map(machineOf),
    runningPods: new Set(podList.map(({ metadata }) => metadata.uid ?? "")),
    addressBlock: freeBlock([...addresses, ...nodeList.map(addressOf)]),
    dnsDomain: picture.cluster.spec.routing?.dnsDomain ?? "cluster.local",
    addresses,
    notes: [
      ...picture.left.map(({ what, why }) => `${what} is not in the picture: ${why}`),
      ...standing.notes,
      ...otherArguments(picture),
      ...[
        ...new Set(strange.map(({ kind }) => `objects of kind ${kind} are not part of the copy`)),
      ],
      ...nodeList
        .filter((node) => !isUp(node))
        .map(({ metadata }) => `node ${metadata.name} is not ready in the picture and stays so`),
    ],
  };
}

/** An owner that is not there would take its objects along. */
function withKnownOwners(object: KubeObject, uids: ReadonlySet<string | undefined>): KubeObject {
  const { ownerReferences } = object.metadata;
  if (ownerReferences === undefined) return object;
  const known = ownerReferences.filter(({ uid }) => uids.has(uid));
  if (known.length === ownerReferences.length) return object;
  return { ...object, metadata: { ...object.metadata, ownerReferences: known } };
}

function isUp({ status }: Node): boolean {
  return conditionIn(status, "Ready")?.status === "True";
}

function addressOf({ status }: Node): string {
  return status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
}

function machineOf(node: Stored<Node>): EmulatedNode {
  return { name: node.metadata.name ?? "", registeredIp: addressOf(node) };
}

/** Pods of others are not in the copy: what they ask for is taken off what the node has to give. */
function withoutRequests(node: Stored<Node>, others: readonly OtherRequests[]): Stored<Node> {
  const { allocatable } = node.status ?? {};
  const own = others.filter((other) => other.node === node.metadata.name);
  if (allocatable === undefined || own.length === 0) return node;
  const left = (name: string, of: (other: OtherRequests) => string): Record<string, string> => {
    const there = allocatable[name];
    if (there === undefined) return {};
    const taken = own.reduce((sum, other) => sum + nanosOf(of(other)), 0n);
    const rest = nanosOf(String(there)) - taken;
    return { [name]: rest > 0n ? `${rest}n` : "0" };
  };
  const rest = {
    ...allocatable,
    ...left("cpu", ({ cpu }) => cpu),
    ...left("memory", ({ memory }) => memory),
    ...left("pods", (other) => String(other.pods)),
  };
  return { ...node, status: { ...node.status, allocatable: rest } };
}

const blocks = Array.from({ length: 16 }, (_, index) => 15 - index);

function freeBlock(addresses: readonly string[]): number {
  const used = new Set(addresses.map(blockOf));
  return blocks.find((block) => !used.has(block)) ?? 15;
}
