// Localities: what a process says about where it runs, and how the processes of a status are matched with
// process groups. Carries the rules M26 to M29 of spec/model.md.
import type { Remembering } from "../env/memory.ts";
import type { DatabaseStatus, StatusProcess } from "./database-status.ts";
import { parseAddress } from "./address.ts";
import { makeProcessId } from "./process-group-id.ts";

export const localityKeys = {
  zone: "zoneid",
  machine: "machineid",
  dataCenter: "dcid",
  dataHall: "data_hall",
  instance: "instance_id",
  process: "process_id",
  dnsName: "dns_name",
} as const;

export function localityOf(process: StatusProcess, key: string): string {
  return process.locality?.[key] ?? "";
}

/**
 * The host name that a process reports. Where a pod does not know the variable that its configuration names, the process
 * starts with the variable's own name, which leads nowhere.
 */
export function dnsNameOf(process: StatusProcess): string {
  const name = localityOf(process, localityKeys.dnsName);
  return name.startsWith("$") ? "" : name;
}

/**
 * A resource without a datacenter of its own manages every process it finds. One whose datacenter was changed still knows
 * its processes by their addresses.
 */
function isOfDataCenter(
  process: StatusProcess,
  dataCenter: string | undefined,
  ownHosts: ReadonlySet<string>,
): boolean {
  if (!dataCenter || localityOf(process, localityKeys.dataCenter) === dataCenter) return true;
  const address = parseAddress(process.address ?? "");
  return address.ok && ownHosts.has(address.value.host);
}

/**
 * The processes of one datacenter by process id, or by instance id where a process has no process id. Several
 * processes may share a key for a short time, for example a pod and its successor.
 */
export function processesByGroup(
  status: DatabaseStatus,
  dataCenter: string | undefined,
  ownHosts: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, readonly StatusProcess[]> {
  const found = new Map<string, StatusProcess[]>();
  for (const process of processesOf(status)) {
    if (!isOfDataCenter(process, dataCenter, ownHosts)) continue;
    const id =
      localityOf(process, localityKeys.process) || localityOf(process, localityKeys.instance);
    if (id === "") continue;
    const sharing = found.get(id);
    if (sharing) sharing.push(process);
    else found.set(id, [process]);
  }
  return found;
}

type ProcessesById = ReadonlyMap<string, readonly StatusProcess[]>;

/**
 * The processes of the whole database by the id of their process group, also those of an earlier pod that linger in
 * the status.
 */
export function processesByInstance(
  { memory }: Remembering,
  status: DatabaseStatus,
): ProcessesById {
  return memory.once(sortedByInstance, status);
}

/** The same for somebody who looks at a status once. */
export function sortedByInstance(status: DatabaseStatus): ProcessesById {
  const found = new Map<string, StatusProcess[]>();
  for (const process of processesOf(status)) {
    const id = localityOf(process, localityKeys.instance);
    if (id === "") continue;
    const sharing = found.get(id);
    if (sharing) sharing.push(process);
    else found.set(id, [process]);
  }
  return found;
}

export function processesOfInstance(
  view: Remembering,
  status: DatabaseStatus,
  id: string,
): readonly StatusProcess[] {
  return processesByInstance(view, status).get(id) ?? [];
}

/** The processes that report as the n-th server of a process group. */
export function processesOfServer(
  byGroup: ReadonlyMap<string, readonly StatusProcess[]>,
  processGroupId: string,
  processNumber: number,
): readonly StatusProcess[] {
  const exact = processNumber === 1 ? byGroup.get(processGroupId) : undefined;
  return exact ?? byGroup.get(makeProcessId(processGroupId, processNumber)) ?? [];
}

/**
 * All processes of a status in the order of their keys, so that a choice never depends on the sender. Of a large database that
 * is a long list: who has a memory keeps it there.
 */
export function processesOf(status: DatabaseStatus): readonly StatusProcess[] {
  const listed = status.cluster?.processes;
  if (listed === undefined) return [];
  const keys = Object.keys(listed);
  // A database sends them in order.
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)) {
    return Object.values(listed);
  }
  return keys.sort().map((key): StatusProcess => listed[key] ?? {});
}

/**
 * The zone of a process group: that of its youngest process which names one, since a process that was
 * replaced lingers in the status for a while.
 */
export function zoneOfProcessGroup(
  byGroup: ReadonlyMap<string, readonly StatusProcess[]>,
  processGroupId: string,
): string | undefined {
  let youngest: StatusProcess | undefined;
  for (const process of processesOfServer(byGroup, processGroupId, 1)) {
    if (localityOf(process, localityKeys.zone) === "") continue;
    if (!youngest || (process.uptime_seconds ?? 0) < (youngest.uptime_seconds ?? 0)) {
      youngest = process;
    }
  }
  return youngest && localityOf(youngest, localityKeys.zone);
}
