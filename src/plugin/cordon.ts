// `kubectl fdb cordon`: removes the process groups on nodes, data moved away first. The node itself stays as it is.
// Rules: spec/plugin.md [PL44].
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import type { Pod } from "../kube/generated/types.ts";
import { nodes, pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { podsOf, readCluster } from "./read-selection.ts";
import { removeGroups } from "./remove.ts";
import type { RemovalFlags } from "./remove.ts";
import { selectGroups } from "./selection.ts";
import type { Session } from "./session.ts";

export interface CordonFlags extends RemovalFlags {
  fdbCluster?: string;
  clusterLabel: string;
  nodeSelector?: Record<string, string>;
}

interface Tenant {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly pods: readonly Stored<Pod>[];
}

export async function runCordon(
  session: Session,
  flags: CordonFlags,
  names: readonly string[],
): Promise<void> {
  if (names.length > 0 && flags.nodeSelector !== undefined) {
    throw new UsageError("give names of nodes or --node-selector, not both");
  }
  if (names.length === 0 && flags.nodeSelector === undefined) {
    throw new UsageError("say which nodes: by name or by --node-selector");
  }
  const wanted = names.length > 0 ? [...new Set(names)].toSorted() : await selected(session, flags);
  const tenants = await tenantsOf(session, flags);
  await mustBeKnown(session, wanted, tenants);
  const problems: string[] = [];
  let total = 0;
  for (const node of wanted) {
    let count = 0;
    for (const { cluster, pods: own } of tenants) {
      const here = own.filter(({ spec }) => spec?.nodeName === node);
      const { ids } = selectGroups(cluster, own, flags, here.map(podName));
      if (ids.length === 0) continue;
      try {
        count += await removeGroups(session, cluster.metadata.name ?? "", ids, flags);
      } catch (error) {
        // The other nodes do not depend on this answer.
        if (!(error instanceof CommandError)) throw error;
        problems.push(`${node}: ${error.message}`);
      }
    }
    session.out.write(`${node}: ${count} process groups\n`);
    total += count;
  }
  session.out.write(
    `${flags.dryRun === true ? "Would remove" : "Asked for the removal of"} ${total} process groups from ${wanted.length} nodes.\n`,
  );
  if (problems.length > 0) throw new CommandError(problems.join("; "));
}

/** A mistyped name must not look like a node that is empty. One that is gone counts while pods still name it. */
async function mustBeKnown(
  { client }: Session,
  wanted: readonly string[],
  tenants: readonly Tenant[],
): Promise<void> {
  const named = new Set(
    tenants.flatMap(({ pods: own }) => own.map(({ spec }) => spec?.nodeName ?? "")),
  );
  const unknown: string[] = [];
  for (const name of wanted) {
    if (named.has(name) || (await client.find(nodes, { name })) !== undefined) continue;
    unknown.push(name);
  }
  if (unknown.length === 0) return;
  throw new CommandError(`there is no node ${unknown.join(", ")}; nothing was changed`);
}

async function selected(session: Session, { nodeSelector = {} }: CordonFlags): Promise<string[]> {
  const labelSelector = Object.entries(nodeSelector)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  const { items } = await session.client.listAll(nodes, { labelSelector });
  if (items.length > 0) return items.map(({ metadata }) => metadata.name ?? "").toSorted();
  throw new CommandError(`no node has the labels ${labelSelector}; nothing was changed`);
}

/** The named cluster, else all of the namespace whose pods carry the label. */
async function tenantsOf(session: Session, flags: CordonFlags): Promise<Tenant[]> {
  const { client, namespace } = session;
  if (flags.fdbCluster !== undefined) {
    const cluster = await readCluster(session, flags.fdbCluster);
    return [{ cluster, pods: await podsOf(session, cluster) }];
  }
  const labelled = await client.listAll(pods, { namespace, labelSelector: flags.clusterLabel });
  const named = new Set(
    labelled.items.map(({ metadata }) => metadata.labels?.[flags.clusterLabel]),
  );
  const clusters = (await client.listAll(foundationDbClusters, { namespace })).items
    .filter(({ metadata }) => named.has(metadata.name))
    .toSorted((left, right) => ((left.metadata.name ?? "") < (right.metadata.name ?? "") ? -1 : 1));
  const tenants: Tenant[] = [];
  for (const cluster of clusters) tenants.push({ cluster, pods: await podsOf(session, cluster) });
  return tenants;
}

function podName({ metadata }: Stored<Pod>): string {
  return metadata.name ?? "";
}
