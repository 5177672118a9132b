// The variables that the split image's sidecar knows, and the rendering of the monitor
// configuration with them. Pure. Carries rules KUBELET41 and KUBELET42.
import { firstAddressOfFamily } from "./monitor-configuration.ts";
import type { Environment, Resolved } from "./monitor-configuration.ts";

export interface SubstitutionOptions {
  readonly environment: Environment;
  readonly hostName: string;
  /** The pod's first address: what a lookup of the own host name gives. */
  readonly ownAddress: string;
  readonly ownVersion: string;
  readonly mainContainerVersion: string;
  readonly mainContainerConfDirectory: string;
  /** "4" or "6"; empty when the pod has one address. */
  readonly publicIpFamily: string;
  readonly variables: readonly string[];
}

export function findSubstitutions(options: SubstitutionOptions): Resolved<Record<string, string>> {
  const { environment, ownVersion, mainContainerVersion } = options;
  const found: Record<string, string> = {};
  const publicIp = environment["FDB_PUBLIC_IP"] ?? environment["FDB_POD_IP"] ?? options.ownAddress;
  const machineId = environment["FDB_MACHINE_ID"] ?? environment["HOSTNAME"] ?? options.hostName;
  found["FDB_PUBLIC_IP"] = publicIp;
  found["FDB_MACHINE_ID"] = machineId;
  found["FDB_ZONE_ID"] = environment["FDB_ZONE_ID"] ?? machineId;
  found["FDB_INSTANCE_ID"] = environment["FDB_INSTANCE_ID"] ?? "";
  found["FDB_POD_IP"] = environment["FDB_POD_IP"] ?? publicIp;
  found["BINARY_DIR"] =
    mainContainerVersion === ownVersion
      ? "/usr/bin"
      : `${options.mainContainerConfDirectory}/bin/${ownVersion}`;
  for (const name of options.variables) {
    if (found[name] !== undefined && environment[name] === undefined) continue;
    const value = environment[name];
    if (value === undefined) return { problem: `missing environment variable ${name}` };
    found[name] = value;
  }
  return reduceToFamily(found, options.publicIpFamily);
}

/** Plain replacement of $NAME, longer names first so that one name may begin with another. */
export function renderMonitorConf(
  template: string,
  substitutions: Readonly<Record<string, string>>,
): string {
  const names = Object.keys(substitutions).toSorted(
    (left, right) => right.length - left.length || (left < right ? -1 : 1),
  );
  let text = template;
  for (const name of names) text = text.replaceAll(`$${name}`, () => substitutions[name] ?? "");
  return text;
}

function reduceToFamily(
  found: Record<string, string>,
  familyText: string,
): Resolved<Record<string, string>> {
  if (familyText === "") return { value: found };
  if (familyText !== "4" && familyText !== "6") {
    return { problem: `unsupported IP family ${familyText}` };
  }
  const family = familyText === "4" ? 4 : 6;
  const reduced = { ...found };
  for (const name of ["FDB_PUBLIC_IP", "FDB_POD_IP"]) {
    const address = firstAddressOfFamily(found[name] ?? "", family);
    if (address === undefined) return { problem: `no IPv${family} address in ${name}` };
    reduced[name] = family === 6 ? `[${address}]` : address;
  }
  return { value: reduced };
}
