// Who tries to take part in the database with a protocol that it does not speak. Rules: spec/upgrade.md [U51].
import { parseAddress } from "./address.ts";
import type { DatabaseStatus } from "./database-status.ts";
import { localityKeys, localityOf, processesOf } from "./locality.ts";

/** Machines that try to connect and are not understood; one that takes part as well is left alone. */
export function incompatibleHosts(
  status: DatabaseStatus,
  dataCenter: string | undefined,
): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const text of status.cluster?.incompatible_connections ?? []) {
    const address = parseAddress(text);
    if (address.ok) hosts.add(address.value.host);
  }
  if (hosts.size === 0) return hosts;
  for (const process of processesOf(status)) {
    const isOurs = !dataCenter || localityOf(process, localityKeys.dataCenter) === dataCenter;
    const address = parseAddress(process.address ?? "");
    if (isOurs && address.ok) hosts.delete(address.value.host);
  }
  return hosts;
}
