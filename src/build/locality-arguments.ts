// Localities that a resource gives to its processes, as arguments of fdbserver and as what a pod needs to know them.
// Carries the rules B32 to B34 of spec/build.md.
import type { ClusterSpec } from "../api/cluster.ts";
import { faultDomainOf } from "../api/effective.ts";
import { localityOf, nodeLabelVariable, resolvedLocality } from "../api/localities.ts";
import type { Locality } from "../api/localities.ts";
import { defaultFaultDomainKey, zoneVariableOf } from "../model/fault-domain.ts";
import type { MonitorArgument } from "./monitor-configuration.ts";

/** The zone of a packed process group is its logical fault domain, which its pod knows by the ordinary variable. */
const zoneVariable = "FDB_ZONE_ID";

export function zoneArgument(spec: ClusterSpec, isPacked: boolean): MonitorArgument {
  const source = isPacked ? zoneVariable : zoneVariableOf(faultDomainOf(spec));
  return fromVariable("zoneid", source);
}

/**
 * Whether packed and unpacked pods learn their zone in different ways, and so need different configurations. Also with
 * packing off, since packed pods live until they are replaced.
 */
export function hasTwoZoneSources(spec: ClusterSpec): boolean {
  if (zoneVariableOf(faultDomainOf(spec)) === zoneVariable) return false;
  return spec.distributionConfig !== undefined || localityOf(spec, "zoneid") !== undefined;
}

function fromValue(key: string, value: string): MonitorArgument {
  return { value: `--locality_${key}=${value}` };
}

function fromVariable(key: string, source: string): MonitorArgument {
  return {
    type: "Concatenate",
    values: [{ value: `--locality_${key}=` }, { type: "Environment", source }],
  };
}

/** Datacenter and hall first, then the resource's own keys; a custom parameter of the same key wins. */
export function localityArguments(
  spec: ClusterSpec,
  customParameters: readonly string[],
): MonitorArgument[] {
  const listed = otherLocalities(spec);
  const fields: readonly [string, string | undefined][] = [
    ["dcid", spec.dataCenter],
    ["data_hall", spec.dataHall],
  ];
  const result: MonitorArgument[] = [];
  const isCustom = (key: string): boolean =>
    customParameters.some((parameter) => parameter.startsWith(`locality_${key}`));
  for (const [key, value] of fields) {
    const locality = listed.find((entry) => entry.key === key);
    if (isCustom(key)) continue;
    if (value) result.push(fromValue(key, value));
    else if (locality) result.push(argumentOf(locality));
  }
  for (const locality of listed) {
    const isField = fields.some(([key]) => key === locality.key);
    if (!isField && !isCustom(locality.key)) result.push(argumentOf(locality));
  }
  return result;
}

/** The zone has an argument of its own, and an entry without a source says nothing. */
function otherLocalities(spec: ClusterSpec): Locality[] {
  return (spec.localities ?? [])
    .map(resolvedLocality)
    .filter((locality) => locality.key !== "zoneid" && locality.source !== "none");
}

function argumentOf(locality: Locality): MonitorArgument {
  if (locality.source === "value") return fromValue(locality.key, locality.value);
  const source = locality.envValue || nodeLabelVariable(locality.topologyKey);
  return fromVariable(locality.key, source);
}

/** Variables of the user that the split sidecar must be told to fill in. */
export function localityVariables(spec: ClusterSpec): string[] {
  return (spec.localities ?? []).flatMap((entry) => {
    const locality = resolvedLocality(entry);
    return locality.source === "envValue" ? [locality.envValue] : [];
  });
}

/** A label of the node other than its host name reaches the pod only through the monitor's node watch. */
export function needsNodeWatch(spec: ClusterSpec): boolean {
  return (spec.localities ?? []).some((entry) => {
    const locality = resolvedLocality(entry);
    const isHost = locality.key === "zoneid" && locality.topologyKey === defaultFaultDomainKey;
    return locality.source === "topologyKey" && !isHost;
  });
}
