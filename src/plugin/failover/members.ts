// The resources of one database, in all namespaces and contexts that a person names, and what of the database none of
// them explains. Rules: spec/failover.md [FO2], [FO3].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { dataCenterOf } from "../../api/localities.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Stored } from "../../kube/resource.ts";
import { isSameDatabase } from "../../model/connection-string.ts";
import {
  costlySettings,
  dataCentersOf,
  desiredConfiguration,
  isSameRegions,
} from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { nameList } from "../../plan/wait.ts";
import { failedOver } from "../configuration.ts";
import { commandErrorOf } from "../read-named.ts";
import type { Session } from "../session.ts";

export interface Place {
  readonly session: Session;
  /** Undefined for the context that the command itself uses. */
  readonly context: string | undefined;
}

export interface Member extends Place {
  readonly cluster: Stored<FoundationDBCluster>;
}

export function memberName({ cluster: { metadata }, context }: Member): string {
  const name = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  return context === undefined ? name : `${context}:${name}`;
}

export async function findMembers(
  places: readonly Place[],
  connectionString: string,
): Promise<Member[]> {
  const found: Member[] = [];
  // A context may be named twice, or be the one that is used anyway.
  const known = new Set<string>();
  for (const place of places) {
    for (const cluster of await clustersIn(place)) {
      const own = cluster.status?.connectionString ?? "";
      const { uid = "" } = cluster.metadata;
      if (known.has(uid) || !isSameDatabase(own, connectionString)) continue;
      known.add(uid);
      found.push({ ...place, cluster });
    }
  }
  return found;
}

/** Who may not look everywhere looks into the one namespace. */
async function clustersIn({ session }: Place): Promise<Stored<FoundationDBCluster>[]> {
  const { client, namespace, out, server } = session;
  try {
    return [...(await client.listAll(foundationDbClusters, {})).items];
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (error.reason !== "Forbidden") throw commandErrorOf(error, server);
    out.note(`Only namespace ${namespace} of ${server} may be looked into.\n`);
    return listed(client.listAll(foundationDbClusters, { namespace }), server);
  }
}

/** Of which server something is said matters where there are several. */
async function listed<T>(list: Promise<{ items: readonly T[] }>, server: string): Promise<T[]> {
  try {
    return [...(await list).items];
  } catch (error) {
    throw isKubeError(error) ? commandErrorOf(error, server) : error;
  }
}

/** Processes and datacenters of the database that belong to no resource that was seen. */
export function unseenProblem(
  members: readonly Member[],
  status: DatabaseStatus,
): string | undefined {
  const ids = new Set(
    members.flatMap(({ cluster }) =>
      (cluster.status?.processGroups ?? []).map(({ processGroupID }) => processGroupID),
    ),
  );
  const seen = new Set(members.map(({ cluster }) => dataCenterOf(cluster.spec)));
  const strangers: string[] = [];
  for (const process of processesOf(status)) {
    const id = localityOf(process, localityKeys.instance);
    const center = localityOf(process, localityKeys.dataCenter);
    if (ids.has(id)) seen.add(center);
    else strangers.push(id || (process.address ?? "a process"));
  }
  const remedy =
    "its operator would swap the regions back: name the context where it is with --other-context";
  if (strangers.length > 0) {
    return `${nameList(strangers.sort())} belong to no resource that was seen, and ${remedy}`;
  }
  const missing = dataCentersOf(status.cluster?.configuration ?? {}).filter((id) => !seen.has(id));
  if (missing.length === 0) return undefined;
  return `no resource of datacenter ${nameList(missing)} was seen, and ${remedy}`;
}

/** What of the resources themselves is in the way. */
export function resourceProblem(members: readonly Member[], to: string): string | undefined {
  const going = members.find(({ cluster }) => cluster.metadata.deletionTimestamp !== undefined);
  if (going !== undefined) return `${memberName(going)} is being deleted`;
  const [first, ...others] = members;
  const regionsOf = (member: Member) => swapped(member, to).databaseConfiguration?.regions;
  const other = first && others.find((one) => !isSameRegions(regionsOf(one), regionsOf(first)));
  if (first !== undefined && other !== undefined) {
    return `the regions of ${memberName(first)} and ${memberName(other)} differ in more than who comes first`;
  }
  const unlike = first && others.flatMap((one) => differenceOf(first, one))[0];
  if (unlike !== undefined) return unlike;
  const acts = members.some(
    ({ cluster: { spec } }) => spec.skip !== true && automationOf(spec).configureDatabase,
  );
  if (acts) return undefined;
  return "no operator would act: spec.skip is true, or automationOptions.configureDatabase is off";
}

/**
 * An operator keeps a wish to itself that another resource has overruled, as long as its resource stays as it is. A swap would
 * wake that wish, and the database would get far more than another primary.
 */
function differenceOf(left: Member, right: Member): string[] {
  const [mine, theirs] = [left, right].map(({ cluster }) =>
    desiredConfiguration(cluster.spec.databaseConfiguration ?? {}),
  );
  return costlySettings.flatMap((name) => {
    const [one, other] = [mine?.[name], theirs?.[name]];
    // Who does not name a setting leaves it as it is.
    if (one === undefined || other === undefined || one === other) return [];
    return [
      `${name} is ${one} in ${memberName(left)} and ${other} in ${memberName(right)}: make them alike first, or the swap would change that, too`,
    ];
  });
}

/** The spec of a resource in which the datacenter comes first. */
export function swapped({ cluster }: Pick<Member, "cluster">, to: string) {
  const { spec, metadata } = cluster;
  const before = spec.databaseConfiguration ?? {};
  return { ...spec, databaseConfiguration: failedOver(before, metadata.name ?? "", to) };
}
