// Reads what the page rests on from Kubernetes, and turns what goes wrong into one line that says what to do. Only the
// cluster itself is needed: what else may not be read is left out and named. Rules: spec/explain.md [E13]-[E15].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Event, Pod } from "../../kube/generated/types.ts";
import type { KubeObject } from "../../kube/object.ts";
import { events, nodes, persistentVolumeClaims, pods } from "../../kube/resource.ts";
import type { Resource, Stored } from "../../kube/resource.ts";
import { readNamed } from "../read-named.ts";
import type { ClusterKey } from "../read-named.ts";
import type { ExplainInput } from "./page.ts";

export async function readExplainInput(
  client: KubeClient,
  key: ClusterKey,
  server: string,
): Promise<ExplainInput> {
  const cluster = await readNamed(client, foundationDbClusters, key, server);
  const { namespace } = key;
  const { attempt, unread } = optionalReads();
  const [ownPods, ownClaims, told] = await Promise.all([
    attempt("pods", () => ownObjects(client, pods, cluster, namespace)),
    attempt("volume claims", () => ownObjects(client, persistentVolumeClaims, cluster, namespace)),
    attempt("events", async () => (await client.listAll(events, { namespace })).items),
  ]);
  const nodeNames = [...new Set((ownPods ?? []).flatMap((pod) => pod.spec?.nodeName ?? []))];
  const found = await attempt("nodes", () =>
    Promise.all(nodeNames.toSorted().map((name) => client.find(nodes, { name }))),
  );
  return {
    cluster,
    pods: ownPods,
    pvcs: ownClaims,
    events: told,
    nodes: found?.filter((node) => node !== undefined),
    unread: unread.toSorted(),
  };
}

/** Reads that a page can do without: what fails is left out and named. */
function optionalReads(): {
  attempt: <T>(what: string, read: () => Promise<T>) => Promise<T | undefined>;
  unread: string[];
} {
  const unread: string[] = [];
  const attempt = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!isKubeError(error)) throw error;
      unread.push(`${what}: ${error.reason === "Forbidden" ? "not allowed" : error.message}`);
      return undefined;
    }
  };
  return { attempt, unread };
}

/** Agents with this label, and all events of the namespace. */
export async function readSurroundings(
  client: KubeClient,
  namespace: string,
  labelSelector: string,
): Promise<{
  pods: readonly Stored<Pod>[] | undefined;
  events: readonly Stored<Event>[] | undefined;
  unread: readonly string[];
}> {
  const { attempt, unread } = optionalReads();
  const [agents, told] = await Promise.all([
    attempt("pods", async () => (await client.listAll(pods, { namespace, labelSelector })).items),
    attempt("events", async () => (await client.listAll(events, { namespace })).items),
  ]);
  return { pods: agents, events: told, unread: unread.toSorted() };
}

/** Objects with the labels of the cluster, and those that it owns whatever their labels say. */
export async function ownObjects<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  cluster: Stored<FoundationDBCluster>,
  namespace: string,
): Promise<T[]> {
  const { items } = await client.listAll(resource, { namespace });
  return items.filter(ownershipOf(cluster));
}

/** Whether an object of its namespace belongs to the cluster. */
export function ownershipOf(cluster: Stored<FoundationDBCluster>): (object: KubeObject) => boolean {
  const wanted = Object.entries(labelsOf(cluster).matchLabels);
  return ({ metadata }) => {
    const isOwned = metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid);
    return isOwned === true || wanted.every(([key, value]) => metadata.labels?.[key] === value);
  };
}
