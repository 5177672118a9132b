// The arguments of fdbserver as a template that does not know the pod yet: addresses, ids and zones are named by the
// environment variables that will hold them, ports by the number of the process. The unified image's monitor reads it as
// JSON. Carries the rules B22 to B31 of spec/build.md.
import {
  logGroupOf,
  needsExplicitListenAddress,
  processSettingsOf,
  routingOf,
} from "../api/effective.ts";
import type { ImageType } from "../api/cluster.ts";
import { addressesOf } from "../model/address.ts";
import type { ProcessAddress } from "../model/address.ts";
import { formatVersion, parseVersion } from "../model/version.ts";
import { goText } from "./go-json.ts";
import { localityArguments, zoneArgument } from "./locality-arguments.ts";
import type { NormalCluster } from "./normalise.ts";

export type MonitorArgument =
  | { readonly type?: "Literal"; readonly value: string }
  | { readonly type: "Concatenate"; readonly values: readonly MonitorArgument[] }
  | { readonly type: "Environment"; readonly source: string }
  | { readonly type: "IPList"; readonly source: string; readonly ipFamily: number }
  | { readonly type: "ProcessNumber"; readonly multiplier?: number; readonly offset?: number };

export interface MonitorConfiguration {
  readonly version: string;
  /** False until there is a cluster file; unset means true. */
  readonly runServers?: boolean;
  readonly arguments: readonly MonitorArgument[];
}

export interface MonitorTarget {
  readonly processClass: string;
  /** The image type of the pod, which differs from the wanted one during a change. */
  readonly imageType: ImageType;
  /** How many fdbservers the pod runs; zero when the monitor itself knows. */
  readonly serverCount: number;
  /** The IP family of the pod; the cluster's where there is no pod yet. */
  readonly ipFamily?: number | undefined;
  /** The pod is in a logical fault domain. */
  readonly isPacked?: boolean | undefined;
}

export const literal = (value: string): MonitorArgument => ({ value });
export const variable = (source: string): MonitorArgument => ({ type: "Environment", source });
export const joined = (...values: MonitorArgument[]): MonitorArgument => ({
  type: "Concatenate",
  values,
});
const processNumber: MonitorArgument = { type: "ProcessNumber" };

/** Names of the variables that the argument is made of. */
export function variablesIn(argument: MonitorArgument): readonly string[] {
  switch (argument.type) {
    case "Concatenate":
      return argument.values.flatMap(variablesIn);
    case "Environment":
    case "IPList":
      return [argument.source];
    default:
      return [];
  }
}

export function monitorConfiguration(
  cluster: NormalCluster,
  target: MonitorTarget,
): MonitorConfiguration {
  const version = parseVersion(cluster.spec.version);
  return {
    version: version ? formatVersion(version) : cluster.spec.version,
    ...(cluster.status?.connectionString ? {} : { runServers: false }),
    arguments: serverArguments(cluster, target),
  };
}

function serverArguments(cluster: NormalCluster, target: MonitorTarget): MonitorArgument[] {
  const { spec, status } = cluster;
  const addresses = addressesOf("", 1, status?.requiredAddresses ?? {});
  const family = target.ipFamily ?? routingOf(spec).podIpFamily;
  const listens = needsExplicitListenAddress(spec) && status?.hasListenIPsForAllPods === true;
  const rules = spec.mainContainer?.peerVerificationRules;
  const parameters = processSettingsOf(spec, target.processClass).customParameters ?? [];
  return [
    literal("--cluster_file=/var/fdb/data/fdb.cluster"),
    literal("--seed_cluster_file=/var/dynamic-conf/fdb.cluster"),
    addressArgument("public_address", "FDB_PUBLIC_IP", addresses, target.imageType, family),
    literal(`--class=${target.processClass}`),
    literal("--logdir=/var/log/fdb-trace-logs"),
    literal(`--loggroup=${logGroupOf(cluster)}`),
    ...dataArguments(target),
    joined(literal("--locality_instance_id="), variable("FDB_INSTANCE_ID")),
    joined(literal("--locality_machineid="), variable("FDB_MACHINE_ID")),
    zoneArgument(spec, target.isPacked === true),
    ...(listens
      ? [addressArgument("listen_address", "FDB_POD_IP", addresses, target.imageType, family)]
      : []),
    ...(rules ? [literal(`--tls_verify_peers=${rules}`)] : []),
    ...parameters.map((parameter) => customArgument(parameter, target.imageType, family)),
    ...localityArguments(spec, parameters),
    ...(routingOf(spec).definesDnsLocalityFields
      ? [joined(literal("--locality_dns_name="), variable("FDB_DNS_NAME"))]
      : []),
  ];
}

/**
 * Only a split pod with one server keeps its data at the root of the volume. What the pod is counts, not what the spec
 * wants: a pod of the other image type that is restarted before its replacement must find its data again.
 */
function dataArguments(target: MonitorTarget): MonitorArgument[] {
  if (target.serverCount <= 1 && target.imageType !== "unified") {
    return [literal("--datadir=/var/fdb/data")];
  }
  return [
    joined(literal("--datadir=/var/fdb/data/"), processNumber),
    joined(
      literal("--locality_process_id="),
      variable("FDB_INSTANCE_ID"),
      literal("-"),
      processNumber,
    ),
  ];
}

/** The unified monitor puts brackets around every address, the split sidecar around those that need them. */
function addressArgument(
  name: string,
  source: string,
  addresses: readonly ProcessAddress[],
  imageType: ImageType,
  family: number,
): MonitorArgument {
  const [left, right] = imageType === "unified" ? ["[", "]"] : ["", ""];
  const values: MonitorArgument[] = [];
  for (const [index, address] of addresses.entries()) {
    values.push(
      literal(`${index === 0 ? `--${name}=` : ","}${left}`),
      ipVariable(source, imageType, family),
      literal(`${right}:`),
      { type: "ProcessNumber", multiplier: 2, offset: address.port - 2 },
    );
    if (address.flags.length > 0) values.push(literal(`:${address.flags.join(":")}`));
  }
  return joined(...(values.length > 0 ? values : [literal(`--${name}=${left}`)]));
}

function ipVariable(source: string, imageType: ImageType, family: number): MonitorArgument {
  if (imageType !== "unified" || family === 0) return variable(source);
  return { type: "IPList", source, ipFamily: family };
}

/** `name=value`, where the value may be a variable; only the first "=" separates. */
function customArgument(parameter: string, imageType: ImageType, family: number): MonitorArgument {
  const [name = "", ...rest] = parameter.split("=");
  if (rest.length === 0) return literal(`--${name.trim()}`);
  const value = rest.join("=").trim();
  const start: MonitorArgument = { type: "Literal", value: `--${name.trim()}=` };
  if (!value.startsWith("$")) return joined(start, { type: "Literal", value });
  const source = value.replaceAll(/^\$+|\$+$/g, "");
  const isAddress = source === "FDB_POD_IP" || source === "FDB_PUBLIC_IP";
  return joined(start, isAddress ? ipVariable(source, imageType, family) : variable(source));
}

/** The JSON that the monitor reads, with fields in the order in which it writes them itself. */
export function monitorJson(configuration: MonitorConfiguration): string {
  const parts = [`"version":${goText(configuration.version)}`];
  if (configuration.runServers !== undefined)
    parts.push(`"runServers":${configuration.runServers}`);
  if (configuration.arguments.length > 0) {
    parts.push(`"arguments":${argumentsJson(configuration.arguments)}`);
  }
  return `{${parts.join(",")}}`;
}

function argumentsJson(values: readonly MonitorArgument[]): string {
  return `[${values.map(argumentJson).join(",")}]`;
}

function argumentJson(argument: MonitorArgument): string {
  const parts: string[] = [];
  if (argument.type !== undefined) parts.push(`"type":${goText(argument.type)}`);
  if ("value" in argument && argument.value !== "") parts.push(`"value":${goText(argument.value)}`);
  if ("values" in argument) parts.push(`"values":${argumentsJson(argument.values)}`);
  if ("source" in argument) parts.push(`"source":${goText(argument.source)}`);
  if (argument.type === "ProcessNumber") {
    if (argument.multiplier) parts.push(`"multiplier":${argument.multiplier}`);
    if (argument.offset) parts.push(`"offset":${argument.offset}`);
  }
  if ("ipFamily" in argument) parts.push(`"ipFamily":${argument.ipFamily}`);
  return `{${parts.join(",")}}`;
}
