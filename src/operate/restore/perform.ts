// Turns the actions of a plan about a restore into writes. What writes into the destination, or leaves it half restored, is
// looked at once more right before: the resource and the database are read anew. Rules: spec/restore.md [RS62], [RS72].
import { isAborting, wasStarted } from "../../api/effective-restore.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { programOf } from "../../build/command-pod.ts";
import { isUnderWay, readRestoreLayer } from "../../fdb/restore-layer.ts";
import type { KubeClient } from "../../kube/client.ts";
import { keyOf } from "../../kube/path.ts";
import type { Stored } from "../../kube/resource.ts";
import { destinationRanges } from "../../model/key-range.ts";
import type { BackupAction } from "../../plan/backup/action.ts";
import { startRefusal } from "../../plan/restore/destination.ts";
import { isBegun, recordOf } from "../../plan/restore/facts.ts";
import type { RestoreSnapshot } from "../../plan/restore/snapshot.ts";
import type { FollowedDatabase } from "../backup/observe.ts";
import { writeAction } from "../backup/write-action.ts";
import type { Caches } from "../caches.ts";
import { questionOf, removalsOf } from "./observe.ts";
import type { RestoreState } from "./state.ts";

export interface RestorePerformInput {
  client: KubeClient;
  caches: Caches;
  state: RestoreState;
  restore: Stored<FoundationDBRestore>;
  database: FollowedDatabase | undefined;
  /** What the plan was made on. */
  snapshot: RestoreSnapshot;
  nowMs: () => number;
}

const timeoutMs = 10_000;

export async function performRestoreAction(
  input: RestorePerformInput,
  action: BackupAction,
): Promise<void> {
  if (action.type === "setPaused") throw new Error("a restore pauses nobody");
  if (action.type === "createCommand" && programOf(action.object) === "fdbrestore") {
    const objection = await objectionTo(input, action.command === "abort");
    if (objection !== undefined) throw new Error(objection);
  }
  const { client, caches, state, restore } = input;
  const place = { resource: foundationDbRestores, cache: caches.restores, object: restore };
  return writeAction({ client, caches, doubts: state.doubts, ...place }, action);
}

async function objectionTo(
  { client, caches, restore, database, snapshot, nowMs }: RestorePerformInput,
  isAbort: boolean,
): Promise<string | undefined> {
  const stored = await client.find(foundationDbRestores, keyOf(restore));
  if (stored === undefined || stored.metadata.uid !== restore.metadata.uid) {
    return "the restore is another one by now";
  }
  const isDeleted = stored.metadata.deletionTimestamp !== undefined;
  if (isDeleted !== isAbort)
    return isAbort ? "the restore is not being deleted" : "the restore is being deleted";
  if (isAbort && !isAborting(stored.spec)) return "spec.deletionPolicy is not abort any more";
  if (!isAbort && wasStarted(stored)) return "the restore was started already";
  if (stored.metadata.generation !== snapshot.restore.metadata.generation)
    return "the spec has changed";
  const { namespace = "" } = stored.metadata;
  const name = stored.spec.destinationClusterName;
  const cluster = await client.find(foundationDbClusters, { namespace, name });
  if (cluster?.spec.skip === true) return `spec.skip of the cluster ${name} is true`;
  if (database?.client === undefined) return "there is no connection to the database";
  const observedMs = nowMs();
  const question = isAbort
    ? questionOf(stored, snapshot)
    : { ...questionOf(stored), ranges: destinationRanges(stored.spec) };
  const layer = await readRestoreLayer(database.client, question, timeoutMs);
  const fresh: RestoreSnapshot = {
    ...snapshot,
    restore: stored,
    removals: removalsOf(caches),
    layer: { kind: "seen", layer, observedMs },
  };
  if (isAbort) {
    const record = recordOf(fresh);
    return record !== undefined && isUnderWay(record)
      ? undefined
      : "the restore does not run any more";
  }
  if (isBegun(fresh)) return "the restore was started already";
  return startRefusal(fresh)?.message;
}
