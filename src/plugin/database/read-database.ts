// A named cluster, its pods and what its database answers. Rules: spec/plugin.md [VW4].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { pods } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { ownObjects } from "../explain/read.ts";
import { readNamed } from "../read-named.ts";
import type { Session } from "../session.ts";
import { askDatabase } from "./ask-database.ts";
import type { DatabaseAnswer } from "./ask-database.ts";

export interface ReadDatabase {
  readonly cluster: Stored<FoundationDBCluster>;
  readonly pods: readonly Stored<Pod>[];
  readonly answer: DatabaseAnswer;
}

export async function readDatabase(session: Session, name: string): Promise<ReadDatabase> {
  const { client, namespace, server } = session;
  const cluster = await readNamed(client, foundationDbClusters, { namespace, name }, server);
  let own: readonly Stored<Pod>[];
  try {
    own = await ownObjects(client, pods, cluster, namespace);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return { cluster, pods: [], answer: { kind: "silent", why: podsUnread(error) } };
  }
  return { cluster, pods: own, answer: await askDatabase(session.exec, cluster, own) };
}

export function podsUnread({ reason, message }: { reason: string; message: string }): string {
  return `its pods cannot be read: ${reason === "Forbidden" ? "not allowed" : message}`;
}
