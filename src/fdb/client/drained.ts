// Whether excluded processes still hold anything. The database lists addresses that do, but forgets a log server that
// is excluded by locality only, so the roles in the status have their say too; what cannot be told apart counts as
// still holding. Rule: spec/real-database.md [DB33].
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";

const holdingRoles: ReadonlySet<string> = new Set(["storage", "log"]);
const localityPrefix = "locality_";

/** Undefined when nothing of the targets holds state any more, else what still does. */
export function stillHolding(
  targets: readonly string[],
  inProgress: readonly string[],
  status: DatabaseStatus,
): string | undefined {
  const { cluster, client } = status;
  const messages = [...(cluster?.messages ?? []), ...(client?.messages ?? [])];
  if (status.unreadable !== undefined) return "the status, of which parts cannot be read";
  if (cluster?.processes === undefined) return "the status, which lists no processes";
  if (messages.some(({ name }) => name.startsWith("status_incomplete"))) {
    return "the status, which is incomplete";
  }
  const processes = Object.values(cluster.processes);
  const byAddress = new Map(processes.map((process) => [endpointOf(process.address), process]));
  const isOurs = (address: string): boolean =>
    targets.some((target) => isTarget(target, address, byAddress.get(address)));
  const listed = inProgress.find(isOurs);
  if (listed !== undefined) return listed;
  const holder = processes.find(
    (process) =>
      process.roles?.some(({ role }) => holdingRoles.has(role)) !== false &&
      isOurs(endpointOf(process.address)),
  );
  if (holder !== undefined) return holder.address ?? "a process without an address";
  const logs = (cluster.logs ?? []).flatMap(({ log_interfaces }) => log_interfaces ?? []);
  return logs.map(({ address }) => endpointOf(address)).find(isOurs);
}

/** A process that nobody knows the locality of may be any. */
function isTarget(target: string, address: string, process: StatusProcess | undefined): boolean {
  if (!target.startsWith(localityPrefix)) {
    return address === target || ipOf(address) === target;
  }
  if (process?.locality === undefined) return true;
  const split = target.indexOf(":");
  const key = target.slice(localityPrefix.length, split);
  return process.locality[key] === target.slice(split + 1);
}

/** An address without what says how it is spoken to. */
export function endpointOf(address: string | undefined): string {
  return (address ?? "").replace(/(:tls|\(fromHostname\))+$/, "");
}

function ipOf(endpoint: string): string {
  const ip = endpoint.replace(/:\d+$/, "");
  return ip.startsWith("[") ? ip.slice(1, -1) : ip;
}
