// Effective defaults: what a spec means where it says nothing. Small pure readers, one per group of
// settings; no other code may read these fields directly, so that a default is decided in one
// place.
import { serversPerPodMaximum } from "../model/limits.ts";
import type { ImageType, ProcessSettings } from "./cluster.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { defaultDnsDomain } from "./cluster-options.ts";
import { faultDomainKeyHost, faultDomainKeyKubernetesCluster } from "./placement-options.ts";
import { isGivenByValue, localityOf, nodeLabelVariable, type Locality } from "./localities.ts";
import { isGlobalMode } from "./effective-automation.ts";

export { automationOf, isGlobalMode } from "./effective-automation.ts";
export type { Automation } from "./effective-automation.ts";

export interface NamedCluster {
  readonly metadata: { readonly name?: string };
  readonly spec: ClusterSpec;
}

export function imageTypeOf(spec: ClusterSpec): ImageType {
  return spec.imageType ?? "unified";
}

export interface Routing {
  readonly publicIpSource: "pod" | "service";
  /** 0 means that the family of the pod's first address is taken. */
  readonly podIpFamily: 0 | 4 | 6;
  readonly useDnsInClusterFile: boolean;
  readonly definesDnsLocalityFields: boolean;
  readonly needsHeadlessService: boolean;
  readonly dnsDomain: string;
}

export function routingOf(spec: ClusterSpec): Routing {
  const routing = spec.routing ?? {};
  const useDnsInClusterFile = routing.useDNSInClusterFile ?? true;
  const definesDnsLocalityFields = useDnsInClusterFile || routing.defineDNSLocalityFields === true;
  const family = routing.podIPFamily;
  return {
    publicIpSource: routing.publicIPSource === "service" ? "service" : "pod",
    podIpFamily: family === 4 || family === 6 ? family : 0,
    useDnsInClusterFile,
    definesDnsLocalityFields,
    needsHeadlessService: definesDnsLocalityFields || routing.headlessService === true,
    dnsDomain: routing.dnsDomain || defaultDnsDomain,
  };
}

export interface Labels {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly resourceLabels: Readonly<Record<string, string>>;
  /** The first one is used to find objects. */
  readonly processGroupIdLabels: readonly string[];
  readonly processClassLabels: readonly string[];
}

/** By which objects of a cluster are found, unless its spec has other labels. */
export const clusterNameLabel = "foundationdb.org/fdb-cluster-name";

export function labelsOf(cluster: NamedCluster): Labels {
  const labels = cluster.spec.labels ?? {};
  const nameLabel = { [clusterNameLabel]: cluster.metadata.name ?? "" };
  return {
    // An empty selector would match the objects of every cluster.
    matchLabels: nonEmptyMap(labels.matchLabels) ?? nameLabel,
    resourceLabels: labels.resourceLabels ?? nameLabel,
    processGroupIdLabels: nonEmptyList(labels.processGroupIDLabels) ?? [
      "foundationdb.org/fdb-process-group-id",
    ],
    processClassLabels: nonEmptyList(labels.processClassLabels) ?? [
      "foundationdb.org/fdb-process-class",
    ],
  };
}

export interface FaultDomain {
  readonly key: string;
  readonly value: string;
  /** A field of the pod, or `$NAME` for an environment variable. */
  readonly valueFrom: string;
  /** 0 when the spec leaves it to the redundancy mode. */
  readonly zoneCount: number;
  readonly zoneIndex: number;
}

/**
 * The zone comes from `faultDomain`, or from the `zone` entry in `localities` that means the same.
 */
export function faultDomainOf(spec: ClusterSpec): FaultDomain {
  const given = spec.faultDomain ?? {};
  const zone = localityOf(spec, "zoneid");
  const topologyKey = zone?.topologyKey || faultDomainKeyHost;
  const isFixed = zone?.source === "value";
  return {
    key: given.key || (isFixed ? faultDomainKeyKubernetesCluster : topologyKey),
    value: given.value || (isFixed ? zone.value : ""),
    valueFrom: given.valueFrom || zoneSource(zone),
    zoneCount: given.zoneCount ?? 0,
    zoneIndex: given.zoneIndex ?? 0,
  };
}

/** The host name of a node is its name for us; any other label reaches the pod as a variable. */
function zoneSource(zone: Locality | undefined): string {
  if (zone?.source === "envValue") return `$${zone.envValue}`;
  if (zone?.source === "topologyKey" && zone.topologyKey !== faultDomainKeyHost) {
    return `$${nodeLabelVariable(zone.topologyKey)}`;
  }
  return "spec.nodeName";
}

export interface Locks {
  readonly isEnabled: boolean;
  /** The bytes before every key of the operator; a prefix in the spec is taken as UTF-8. */
  readonly keyPrefix: Uint8Array;
  readonly durationMinutes: number;
  readonly denyList: readonly { readonly id: string; readonly allow: boolean }[];
}

/** In FoundationDB's system keys, where clients that are not told otherwise see nothing. */
const defaultKeyPrefix = Buffer.from("\xff\x02/org.foundationdb.kubernetes-operator", "latin1");

const hallModes = [
  "three_data_hall",
  "three_datacenter",
  "three_data_hall_fallback",
  "three_datacenter_fallback",
];

export function locksOf(spec: ClusterSpec): Locks {
  const options = spec.lockOptions ?? {};
  const isGlobal = isGlobalMode(spec);
  const isWanted =
    options.disableLocks === undefined ? sharesDatabase(spec) : !options.disableLocks;
  return {
    isEnabled: isGlobal || isWanted,
    keyPrefix: options.lockKeyPrefix ? Buffer.from(options.lockKeyPrefix) : defaultKeyPrefix,
    durationMinutes: options.lockDurationMinutes ?? 10,
    denyList: (options.denyList ?? []).map(({ id, allow }) => ({
      id: id ?? "",
      allow: allow ?? false,
    })),
  };
}

/** Whether other operator instances are likely to look after the same database. */
export function sharesDatabase(spec: ClusterSpec): boolean {
  const configuration = spec.databaseConfiguration ?? {};
  return (
    (spec.faultDomain?.zoneCount ?? 0) > 1 ||
    (configuration.regions?.length ?? 0) > 1 ||
    hallModes.includes(configuration.redundancy_mode ?? "double") ||
    (spec.seedConnectionString ?? "") !== "" ||
    isGivenByValue(spec, "data_hall") ||
    isGivenByValue(spec, "dcid")
  );
}

export function logGroupOf(cluster: NamedCluster): string {
  return cluster.spec.logGroup || (cluster.metadata.name ?? "");
}

export function serversPerPod(spec: ClusterSpec, processClass: string): number {
  switch (processClass) {
    case "storage":
      return servers(spec.storageServersPerPod);
    case "log":
    case "transaction":
      return servers(spec.logServersPerPod);
    default:
      return 1;
  }
}

/** Bounded, since plans and builders count up to it; a number beyond the bound is refused before anything is done. */
function servers(wanted: number | undefined): number {
  return Math.min(serversPerPodMaximum, Math.max(1, wanted ?? 1));
}

/** With a service in front, a process must listen on the pod's address, not on its public one. */
export function needsExplicitListenAddress(spec: ClusterSpec): boolean {
  return routingOf(spec).publicIpSource === "service" || (spec.useExplicitListenAddress ?? true);
}

export function processSettingsOf(spec: ClusterSpec, processClass: string): ProcessSettings {
  const own = spec.processes?.[processClass];
  const general = spec.processes?.["general"];
  const podTemplate = own?.podTemplate ?? general?.podTemplate;
  const volumeClaimTemplate = own?.volumeClaimTemplate ?? general?.volumeClaimTemplate;
  const customParameters = own?.customParameters ?? general?.customParameters;
  return {
    ...(podTemplate === undefined ? {} : { podTemplate }),
    ...(volumeClaimTemplate === undefined ? {} : { volumeClaimTemplate }),
    ...(customParameters === undefined ? {} : { customParameters }),
  };
}

function nonEmptyMap<T>(map: Readonly<Record<string, T>> | undefined) {
  return map === undefined || Object.keys(map).length === 0 ? undefined : map;
}

function nonEmptyList<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}
