// Answers a person's question about the coordination sets, in any mode: what is in them, or the wish to take out what an
// instance has left behind. While processes of that instance live, it takes more than a wish.
// Rules: spec/coordination.md [CO54]-[CO57], [CO68].
import { isAvailable } from "../model/availability.ts";
import { mostOf } from "../env/long-lists.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import {
  answerAnnotation,
  parseAnswer,
  parseRequest,
  requestAnnotation,
} from "../api/coordination-request.ts";
import type { CoordinationAnswer, CoordinationRequest } from "../api/coordination-request.ts";
import { isGlobalMode } from "../api/effective.ts";
import { clearInstance, readSets } from "../fdb/coordination-sets.ts";
import { storedSets } from "../fdb/keys.ts";
import type { SetEntry, StoredSet } from "../fdb/keys.ts";
import type { KubeClient } from "../kube/client.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { Stored } from "../kube/resource.ts";
import { sortedByInstance } from "../model/locality.ts";
import { parseProcessGroupId } from "../model/process-group-id.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { unreadableText } from "../model/status-shape.ts";
import { seenKey } from "../plan/view/shared-sets.ts";
import type { CoordinationKnowledge } from "../plan/view/shared-sets.ts";
import { nameList } from "../plan/wait.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { GuardedDatabase } from "./guard.ts";
import type { ReconcileOptions } from "./reconcile-options.ts";

export interface RequestTools {
  readonly client: KubeClient;
  readonly database: Pick<GuardedDatabase, "admin" | "shared">;
  readonly timeoutMs: number;
  /** The prefix of the instance that answers. */
  readonly ownPrefix: string;
  /** What it has seen of the sets so far; nothing in local mode. */
  readonly known: CoordinationKnowledge | undefined;
}

interface Found extends SetEntry {
  readonly set: StoredSet;
  readonly targets: readonly string[];
}

/** An annotation has limited room. */
const entriesMax = 1_000;

/** An operator that works writes more often than that, or is asked for by whoever waits for it. */
const abandonedMinutes = 10;

/** A question about the coordination sets is answered beside the pass: it may take a while. */
export function answerPerson(
  options: Pick<ReconcileOptions, "client" | "log">,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
): void {
  const request = openRequest(cluster);
  if (request === undefined || request.id === state.answeredRequest) return;
  state.answeredRequest = request.id;
  const { processGroupIDPrefix: ownPrefix = "" } = cluster.spec;
  const question = { cluster: keyText(keyOf(cluster)), verb: request.verb, prefix: request.prefix };
  const tools = {
    ...{ client: options.client, database: state.database, timeoutMs: 10_000, ownPrefix },
    known: isGlobalMode(cluster.spec) ? state.reader.knowledge.coordination : undefined,
  };
  answerRequest(tools, cluster, request).then(
    () => options.log.info("answered a question about the coordination sets", question),
    (error: unknown) => {
      // The resource could not be written; the person asks again.
      const text = String(error);
      options.log.warn("could not answer a question about the coordination sets", {
        ...question,
        error: text,
      });
    },
  );
}

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
  tools: RequestTools,
  request: CoordinationRequest,
): Promise<{ entries: readonly string[]; problem?: string }> {
  const { database, timeoutMs, ownPrefix } = tools;
  const { verb, prefix = "" } = request;
  const shared = database.shared();
  const { admin } = database;
  if (shared === undefined || admin === undefined) {
    return { entries: [], problem: "the operator has no connection to the database" };
  }
  const keys = { ...shared.keys, timeoutMs };
  const sets = await readSets(keys, storedSets);
  const all = storedSets.flatMap((set): Found[] =>
    [...sets[set].entries, ...sets[set].foreign].map((entry) => {
      const targets = "targets" in entry ? entry.targets : ["a value of another operator"];
      return { set, ...entry, targets };
    }),
  );
  if (verb === "show") return { entries: all.map(textOf) };
  const theirs = all.filter((entry) => entry.processGroupIdPrefix === prefix);
  const entries = theirs.map(textOf);
  // What is still true of our own entries is told again in the next pass.
  if (prefix !== ownPrefix || prefix === "") {
    const problem = livingProblem(tools, request, theirs, await admin.status(timeoutMs));
    if (problem !== undefined) return { entries, problem };
  }
  await clearInstance(keys, prefix);
  return { entries };
}

/** Why entries may not be taken out behind the back of their instance. */
function livingProblem(
  { known }: RequestTools,
  { prefix = "", isAbandoned = false }: CoordinationRequest,
  entries: readonly Found[],
  status: DatabaseStatus,
): string | undefined {
  if (!isAvailable(status)) {
    return "the database is not available, so nobody knows who lives";
  }
  const unreadable = unreadableText(status);
  if (unreadable !== undefined) return `${unreadable}, so nobody knows who lives`;
  const announced = new Set(entries.map(({ processGroupId }) => processGroupId));
  const living = [...sortedByInstance(status).keys()].filter(
    (id) => announced.has(id) || parseProcessGroupId(id)?.prefix === prefix,
  );
  if (living.length === 0) return undefined;
  const names = `processes of ${prefix === "" ? "the empty prefix" : prefix} live: ${nameList(living.sort())}`;
  if (!isAbandoned) {
    return `${names}. When the operator of ${prefix} is gone, or has left global mode, repeat the command with --abandoned`;
  }
  if (known === undefined) {
    return `${names}, and the operator of this resource has not watched the entries: ask a resource in global mode, and again in a minute if it is one`;
  }
  const youngest = mostOf(
    entries.map((entry) => known.memory.firstSeenMs.get(seenKey(entry.set, entry)) ?? Infinity),
    0,
  );
  const quietMinutes = Math.floor(Math.max(0, known.observedMs - youngest) / 60_000);
  if (quietMinutes >= abandonedMinutes || entries.length === 0) return undefined;
  return (
    `${names}, and the newest entry under ${prefix} was seen first ${quietMinutes} minutes ago: ` +
    `somebody stands behind it. Entries count as abandoned when none is younger than ${abandonedMinutes} minutes`
  );
}

function textOf({ set, processGroupIdPrefix, processGroupId, targets }: Found): string {
  const prefix = processGroupIdPrefix === "" ? "" : `${processGroupIdPrefix}/`;
  return `${set}/${prefix}${processGroupId}${targets.length === 0 ? "" : `=${targets.join(",")}`}`;
}
