// Reads the clusters that a selection is about, and says what of it was not found. Rules: spec/plugin.md [PL20]-[PL24].
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { labelsOf } from "../api/effective.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import { append } from "../env/long-lists.ts";
import type { Pod } from "../kube/generated/types.ts";
import { pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { readNamed, similarNames } from "./read-named.ts";
import { labelConflict, podNamesOf, selectGroups, selectionMistake } from "./selection.ts";
import type { SelectionFlags } from "./selection.ts";
import type { Session } from "./session.ts";

export interface SelectedGroups {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly ids: readonly string[];
}

export function readCluster(
  { client, namespace, server }: Session,
  name: string,
): Promise<Stored<FoundationDBCluster>> {
  return readNamed(client, foundationDbClusters, { namespace, name }, server);
}

/** Pods with the labels of the cluster, in the order of their names. */
export async function podsOf(
  { client, namespace }: Pick<Session, "client" | "namespace">,
  cluster: FoundationDBCluster,
): Promise<Stored<Pod>[]> {
  const labels = Object.entries(labelsOf(cluster).matchLabels);
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(",");
  const { items } = await client.listAll(pods, { namespace, labelSelector });
  // Backup agents carry the labels of a cluster, too, but run no server.
  const isServer = ({ spec }: Stored<Pod>): boolean =>
    spec?.containers.some(({ name }) => name === "foundationdb") === true;
  const name = ({ metadata }: Stored<Pod>): string => metadata.name ?? "";
  return items.filter(isServer).toSorted((left, right) => (name(left) < name(right) ? -1 : 1));
}

/** At least one process group. A name that means none is a mistake, and nothing is done for the others either. */
export async function readSelection(
  session: Session,
  flags: SelectionFlags,
  names: readonly string[],
): Promise<SelectedGroups[]> {
  const mistake = selectionMistake(flags, names);
  if (mistake !== undefined) throw new UsageError(mistake);
  const selected: SelectedGroups[] = [];
  const problems: string[] = [];
  for (const [name, meant] of await namesByCluster(session, flags, names)) {
    const cluster = await readCluster(session, name);
    const conflict = labelConflict(cluster, flags.matchLabels);
    if (conflict !== undefined) throw new UsageError(conflict);
    const { ids, unknown } = selectGroups(cluster, await podsOf(session, cluster), flags, meant);
    append(
      problems,
      unknown.map((each) => unknownText(each, cluster)),
    );
    if (ids.length > 0) selected.push({ cluster, ids });
  }
  if (problems.length > 0) throw new CommandError(`${problems.join("; ")}; nothing was changed`);
  if (selected.length === 0) {
    throw new CommandError("no process group is meant by this; nothing was changed");
  }
  return selected;
}

function unknownText(given: string, cluster: FoundationDBCluster): string {
  const ids = (cluster.status?.processGroups ?? []).map(({ processGroupID }) => processGroupID);
  const similar = similarNames(given, [...ids, ...podNamesOf(cluster, ids)]);
  const hint = similar.length === 0 ? "" : ` (did you mean ${similar.join(", ")}?)`;
  return `${given} is no process group of ${cluster.metadata.name}${hint}`;
}

/** Without a named cluster each pod tells its own by a label. */
async function namesByCluster(
  { client, namespace }: Session,
  { fdbCluster, clusterLabel }: SelectionFlags,
  names: readonly string[],
): Promise<[string, string[]][]> {
  if (fdbCluster !== undefined) return [[fdbCluster, [...names]]];
  const found = new Map<string, string[]>();
  const unknown: string[] = [];
  for (const name of [...new Set(names)].toSorted()) {
    const pod = await client.find(pods, { namespace, name });
    if (pod === undefined) {
      unknown.push(name);
      continue;
    }
    const cluster = pod.metadata.labels?.[clusterLabel];
    if (cluster === undefined || cluster === "") {
      throw new CommandError(
        `the pod ${name} has no label ${clusterLabel}: name its cluster with -c, or the label with -l`,
      );
    }
    found.set(cluster, [...(found.get(cluster) ?? []), name]);
  }
  if (unknown.length > 0) {
    throw new CommandError(
      `there is no pod ${unknown.join(", ")} in namespace ${namespace}: name the cluster with -c to give process groups without pods`,
    );
  }
  return [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
}
