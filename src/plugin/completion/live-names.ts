// Names for completion from the server that the flags lead to. Whoever presses a key waits: the time is short, and whatever
// goes wrong is no name. Rules: spec/plugin.md [VW20].
import { foundationDbBackups } from "../../api/backup.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { KubeObject } from "../../kube/object.ts";
import { namespaces, pods } from "../../kube/resource.ts";
import type { Resource } from "../../kube/resource.ts";
import { byText } from "../../model/process-row.ts";
import type { LiveKind } from "./complete.ts";

export interface NameSource {
  readonly client: Pick<KubeClient, "find" | "list">;
  readonly namespace: string;
}

/** More names help nobody. */
const namesMax = 500;

/** `given`: what stands on the line before, the name of a cluster first. */
export async function liveNames(
  kind: LiveKind,
  source: NameSource,
  given: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const { client, namespace } = source;
  const names = async (resource: Resource<KubeObject>, prefix = ""): Promise<string[]> => {
    const scope = resource.isNamespaced ? { namespace } : {};
    const { items } = await client.list(resource, { ...scope, limit: namesMax, signal });
    return items.map(({ metadata }) => `${prefix}${metadata.name ?? ""}`).toSorted(byText);
  };
  switch (kind) {
    case "clusters":
      return names(foundationDbClusters);
    case "backups":
      return names(foundationDbBackups);
    case "restores":
      return names(foundationDbRestores);
    case "subjects":
      return [
        ...(await names(foundationDbClusters)),
        ...(await names(foundationDbBackups, "backup/")),
        ...(await names(foundationDbRestores, "restore/")),
      ];
    case "namespaces":
      return names(namespaces);
    case "pods":
      return names(pods);
    case "processGroups":
      return processGroups(source, given, signal);
  }
}

/** Of the cluster on the line; of the only one where none is. */
async function processGroups(
  { client, namespace }: NameSource,
  [name]: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const cluster =
    name === undefined
      ? (await client.list(foundationDbClusters, { namespace, limit: 2, signal })).items
      : [await client.find(foundationDbClusters, { namespace, name }, { signal })];
  const [only, another] = cluster;
  if (only === undefined || another !== undefined) return [];
  const groups = only.status?.processGroups ?? [];
  return groups
    .slice(0, namesMax)
    .map(({ processGroupID }) => processGroupID)
    .toSorted(byText);
}
