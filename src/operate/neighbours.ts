// Other resources of the same database, as far as this operator sees them: what they say of their process groups is known also
// to an operator that has just started, or looks again after a while, and that no status has shown them to yet.
// Rules: spec/safety.md [S164], [S169].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Stored } from "../kube/resource.ts";
import { hostOf } from "../model/address.ts";
import { haveSameDescription, isSameDatabase } from "../model/connection-string.ts";
import { localityKeys, localityOf } from "../model/locality.ts";
import { isTest } from "../model/process-class.ts";
import { hasReported, isExcluded } from "../model/process-group.ts";
import type { StatusProcess } from "../model/database-status.ts";

/** By the id of each process group that the database counts on, its fault domain. */
export type Neighbours = ReadonlyMap<string, string>;

export const noNeighbours: Neighbours = new Map();

/** `processes` are those that the database shows. */
export function neighboursOf(
  { metadata }: Pick<Stored<FoundationDBCluster>, "metadata">,
  connectionString: string | undefined,
  clusters: { list(): readonly Stored<FoundationDBCluster>[] },
  processes: readonly StatusProcess[],
): Neighbours {
  if (connectionString === undefined) return noNeighbours;
  const found = new Map<string, string>();
  for (const other of clusters.list()) {
    if (other.metadata.uid === metadata.uid) continue;
    const isSame = isSameDatabase(other.status?.connectionString, connectionString);
    if (!isSame && !isLeftBehind(other, connectionString, processes)) continue;
    for (const group of other.status?.processGroups ?? []) {
      if (isTest(group.processClass) || !hasReported(group) || isExcluded(group)) continue;
      found.set(group.processGroupID, group.faultDomain || group.processGroupID);
    }
  }
  return found;
}

/**
 * Nobody follows a change of coordinators for a resource that is paused, so that it may name none of them any more. Then a
 * process tells that reports under the id and the address that the resource has of it.
 */
function isLeftBehind(
  { spec, status }: FoundationDBCluster,
  connectionString: string,
  processes: readonly StatusProcess[],
): boolean {
  if (spec.skip !== true || status?.connectionString === undefined) return false;
  if (!haveSameDescription(status.connectionString, connectionString)) return false;
  const listed = new Map(
    status.processGroups?.map(({ processGroupID, addresses = [] }) => [processGroupID, addresses]),
  );
  return processes.some((process) => {
    const known = listed.get(localityOf(process, localityKeys.instance));
    const host = hostOf(process.address ?? "");
    return known?.some((address) => hostOf(address) === host) === true;
  });
}

interface Unshown {
  zone: string;
  /** When the first status was asked for that could have shown it. */
  missingMs: number;
}

/** What was shown once is judged by statuses alone, which tell also whether it was excluded before it went. */
export class UnshownNeighbours {
  readonly #shown = new Set<string>();
  readonly #unshown = new Map<string, Unshown>();

  /** Takes in a complete status; `own` are the ids of our own process groups. */
  note(
    processes: readonly StatusProcess[],
    observedMs: number,
    neighbours: Neighbours,
    own: ReadonlySet<string>,
  ): void {
    if (neighbours.size === 0) {
      this.#shown.clear();
      this.#unshown.clear();
      return;
    }
    for (const process of processes) {
      const id = localityOf(process, localityKeys.instance);
      if (neighbours.has(id)) this.#shown.add(id);
    }
    for (const id of this.#shown) if (!neighbours.has(id)) this.#shown.delete(id);
    for (const id of this.#unshown.keys()) {
      if (!neighbours.has(id) || this.#shown.has(id)) this.#unshown.delete(id);
    }
    for (const [id, zone] of neighbours) {
      if (own.has(id) || this.#shown.has(id) || this.#unshown.has(id)) continue;
      this.#unshown.set(id, { zone, missingMs: observedMs });
    }
  }

  [Symbol.iterator](): IterableIterator<[string, Unshown]> {
    return this.#unshown[Symbol.iterator]();
  }
}
