// Localities that a spec gives its processes, by their FoundationDB name, whichever field they come
// from: `localities`, the older `dataCenter`, `dataHall` and `faultDomain`, or a custom parameter.
import type { ClusterSpec } from "./cluster-spec.ts";
import type { LocalitySpec } from "./placement-options.ts";

const canonicalNames: Readonly<Record<string, string>> = {
  zone: "zoneid",
  datacenter: "dcid",
};

/** The name under which FoundationDB knows a locality key, without `locality_`. */
export function canonicalLocalityKey(key: string): string {
  return canonicalNames[key] ?? key;
}

export interface Locality {
  /** FoundationDB's name, without `locality_`. */
  readonly key: string;
  /** Which of the three gives the value. */
  readonly source: "value" | "envValue" | "topologyKey" | "none";
  readonly value: string;
  readonly envValue: string;
  /** Also where another source gives the value: the anti-affinity of the zone locality uses it. */
  readonly topologyKey: string;
  readonly values: readonly string[];
}

/** An entry of `localities` with its precedence: value, then envValue, then topologyKey. */
export function resolvedLocality(entry: LocalitySpec): Locality {
  const { value = "", envValue = "", topologyKey = "", values = [] } = entry;
  const sources = [
    ["value", value],
    ["envValue", envValue],
    ["topologyKey", topologyKey],
  ] as const;
  const source = sources.find(([, given]) => given !== "")?.[0] ?? "none";
  return { key: canonicalLocalityKey(entry.key), source, value, envValue, topologyKey, values };
}

export function localityOf(spec: ClusterSpec, key: string): Locality | undefined {
  const entry = (spec.localities ?? []).find((each) => canonicalLocalityKey(each.key) === key);
  return entry === undefined ? undefined : resolvedLocality(entry);
}

/** How the unified image's monitor names the variable that holds a label of its node. */
export function nodeLabelVariable(labelKey: string): string {
  return `NODE_LABEL_${labelKey.toUpperCase().replace(/[/.]/g, "_")}`;
}

/** The one datacenter of all processes of this resource; "" when they have none, or learn it where they run. */
export function dataCenterOf(spec: ClusterSpec): string {
  const locality = localityOf(spec, "dcid");
  return spec.dataCenter || (locality?.source === "value" ? locality.value : "");
}

/** Whether all processes of this resource have one fixed value of a locality. */
export function isGivenByValue(spec: ClusterSpec, key: "data_hall" | "dcid"): boolean {
  const field = key === "dcid" ? spec.dataCenter : spec.dataHall;
  if ((field ?? "") !== "") return true;
  if (localityOf(spec, key)?.source === "value") return true;
  return Object.values(spec.processes ?? {}).some((settings) =>
    (settings.customParameters ?? []).some((parameter) => isLiteral(parameter, key)),
  );
}

function isLiteral(parameter: string, key: string): boolean {
  const value = parameterValue(parameter, `locality_${key}`);
  return value !== undefined && value !== "" && !value.startsWith("$");
}

/** The value of a custom parameter of this name; undefined when it is another parameter. */
export function parameterValue(parameter: string, name: string): string | undefined {
  const [given = "", ...rest] = parameter.split("=");
  return given === name && rest.length > 0 ? rest.join("=") : undefined;
}
