// Which fault domain a person means by the name of a node, of a zone of Kubernetes, or of the fault domain itself. Pure.
// Rules: spec/maintenance.md [MNT1], [MNT2].
import { counted } from "../../model/counted.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { nameList } from "../../plan/wait.ts";

export interface Place {
  /** By the id of a process group, the node of its pod. */
  readonly nodeOf: ReadonlyMap<string, string>;
  /** Nodes of the zone of Kubernetes that has the name, if there is one. */
  readonly nodesOfZone: readonly string[];
}

export interface TargetZone {
  readonly zone: string;
  /** Ids of the process groups with storage in it. */
  readonly storage: readonly string[];
}

/** FoundationDB's own command takes no other. */
const zonePattern = /^[\w.:/-]{1,253}$/;

export function targetZone(
  name: string,
  status: DatabaseStatus,
  place: Place,
): TargetZone | { readonly problem: string } {
  const processes = processesOf(status);
  const zones = [...new Set(processesOn(name, processes, place).map(zoneOf))].sort();
  const [zone] = zones;
  if (zone === undefined) {
    const known = [...new Set(processes.map(zoneOf))].sort();
    return {
      problem: `no process of the database is on a node, in a zone or in a fault domain ${name}; fault domains: ${nameList(known)}`,
    };
  }
  if (zones.length > 1) {
    return {
      problem:
        `${name} has ${counted(zones.length, "fault domain")} (${nameList(zones)}), ` +
        "and FoundationDB has one under maintenance at a time: name one of them",
    };
  }
  if (!zonePattern.test(zone)) {
    return { problem: `fault domain ${JSON.stringify(zone)} has a name that fdbcli does not take` };
  }
  const storage = storageIn(status, zone);
  if (storage.length > 0) return { zone, storage };
  return {
    problem: `fault domain ${zone} has no storage process, so that nothing would be copied`,
  };
}

export function storageIn(status: DatabaseStatus, zone: string): string[] {
  const found = processesOf(status)
    .filter((process) => process.class_type === "storage" && zoneOf(process) === zone)
    .map(instanceOf);
  return [...new Set(found)].filter((id) => id !== "").sort();
}

/** The fault domain of the name comes first, then the node, then the zone of Kubernetes. */
function processesOn(
  name: string,
  processes: readonly StatusProcess[],
  { nodeOf, nodesOfZone }: Place,
): readonly StatusProcess[] {
  const inZone = processes.filter((process) => zoneOf(process) === name);
  if (inZone.length > 0) return inZone;
  const on = (nodes: readonly string[]): StatusProcess[] =>
    processes.filter(
      (process) =>
        nodes.includes(localityOf(process, localityKeys.machine)) ||
        nodes.includes(nodeOf.get(instanceOf(process)) ?? ""),
    );
  const onNode = on([name]);
  return onNode.length > 0 ? onNode : on(nodesOfZone);
}

function zoneOf(process: StatusProcess): string {
  return localityOf(process, localityKeys.zone);
}

function instanceOf(process: StatusProcess): string {
  return localityOf(process, localityKeys.instance);
}
