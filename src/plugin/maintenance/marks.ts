// What fdbcli is told about the list that all operators share. Rules: spec/maintenance.md [MNT1], spec/keys.md [LOCK40].
import { locksOf } from "../../api/effective.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { encodeMaintenance, OperatorKeys } from "../../fdb/keys.ts";

/** Keys of operators are system keys. */
const access = ["option on ACCESS_SYSTEM_KEYS"];
const writing = ["writemode on", ...access];

export function keyText(cluster: FoundationDBCluster, id: string): string {
  const { keyPrefix } = locksOf(cluster.spec);
  return quoted(new OperatorKeys(keyPrefix).maintenanceEntry(id));
}

export function marking(
  cluster: FoundationDBCluster,
  ids: readonly string[],
  nowSeconds: number,
): string[] {
  const value = quoted(encodeMaintenance(nowSeconds));
  return [...writing, ...ids.map((id) => `set ${keyText(cluster, id)} ${value}`)];
}

export function unmarking(cluster: FoundationDBCluster, ids: readonly string[]): string[] {
  return [...writing, ...ids.map((id) => `clear ${keyText(cluster, id)}`)];
}

export function looking(cluster: FoundationDBCluster, id: string): string[] {
  return [...access, `get ${keyText(cluster, id)}`];
}

/** As fdbcli reads and writes bytes; all but the plainest are written by their number. */
function quoted(bytes: Uint8Array): string {
  const text = [...bytes].map((byte) => {
    const character = String.fromCharCode(byte);
    return /[\w./-]/.test(character) && byte < 128
      ? character
      : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
  return `"${text.join("")}"`;
}
