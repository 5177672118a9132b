// Answers a person's question about the coordination sets, in any mode: what is in them, or the wish to take out what an
// instance has left behind that is gone for good. It is refused while a process of that instance lives.
// Rules: spec/coordination.md [CO54]-[CO57].
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import {
  answerAnnotation,
  parseAnswer,
  parseRequest,
  requestAnnotation,
} from "../api/coordination-request.ts";
import type { CoordinationAnswer, CoordinationRequest } from "../api/coordination-request.ts";
import { clearInstance, readSets } from "../fdb/coordination-sets.ts";
import { coordinationSets } from "../fdb/keys.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Stored } from "../kube/resource.ts";
import { processesByInstance } from "../model/locality.ts";
import { parseProcessGroupId } from "../model/process-group-id.ts";
import { nameList } from "../plan/wait.ts";
import type { GuardedDatabase } from "./guard.ts";

export interface RequestTools {
  readonly client: KubeClient;
  readonly database: Pick<GuardedDatabase, "admin" | "shared">;
  readonly timeoutMs: number;
}

/** An annotation has limited room. */
const entriesMax = 1_000;

/** The question that nobody has answered yet. */
export function openRequest(cluster: FoundationDBCluster): CoordinationRequest | undefined {
  const { annotations = {} } = cluster.metadata;
  const request = parseRequest(annotations[requestAnnotation]);
  return parseAnswer(annotations[answerAnnotation])?.id === request?.id ? undefined : request;
}

export async function answerRequest(
  tools: RequestTools,
  cluster: Stored<FoundationDBCluster>,
  request: CoordinationRequest,
): Promise<void> {
  const { namespace, name = "", uid } = cluster.metadata;
  const answer = await answerOf(tools, request);
  const annotations = { [answerAnnotation]: JSON.stringify(answer) };
  const body = { metadata: { uid, annotations } };
  await tools.client.patch(foundationDbClusters, { namespace, name }, body, { type: "merge" });
}

async function answerOf(
  tools: RequestTools,
  request: CoordinationRequest,
): Promise<CoordinationAnswer> {
  const { id } = request;
  try {
    const { entries, problem } = await carryOut(tools, request);
    const shown = entries.slice(0, entriesMax);
    const leftOut = entries.length - shown.length;
    return { id, entries: shown, leftOut, ...(problem === undefined ? {} : { problem }) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { id, entries: [], leftOut: 0, problem };
  }
}

async function carryOut(
  { database, timeoutMs }: RequestTools,
  { verb, prefix = "" }: CoordinationRequest,
): Promise<{ entries: readonly string[]; problem?: string }> {
  const shared = database.shared();
  const { admin } = database;
  if (shared === undefined || admin === undefined) {
    return { entries: [], problem: "the operator has no connection to the database" };
  }
  const keys = { ...shared.keys, timeoutMs };
  const sets = await readSets(keys, coordinationSets);
  const all = coordinationSets.flatMap((set) =>
    [...sets[set].entries, ...sets[set].foreign].map((entry) => {
      const targets = "targets" in entry ? entry.targets : ["a value of another operator"];
      return { set, ...entry, targets };
    }),
  );
  const textOf = ({ set, processGroupIdPrefix, processGroupId, targets }: (typeof all)[number]) =>
    `${set}/${processGroupIdPrefix}/${processGroupId}${targets.length === 0 ? "" : `=${targets.join(",")}`}`;
  if (verb === "show") return { entries: all.map(textOf) };
  const own = all.filter((entry) => entry.processGroupIdPrefix === prefix);
  const announced = new Set(own.map(({ processGroupId }) => processGroupId));
  const status = await admin.status(timeoutMs);
  if (status.client?.database_status?.available !== true) {
    return { entries: [], problem: "the database is not available, so nobody knows who lives" };
  }
  const living = [...processesByInstance(status).keys()].filter(
    (id) => announced.has(id) || parseProcessGroupId(id)?.prefix === prefix,
  );
  if (living.length > 0) {
    const problem = `processes of ${prefix} live: ${nameList(living.sort())}`;
    return { entries: [], problem };
  }
  await clearInstance(keys, prefix);
  return { entries: own.map(textOf) };
}
