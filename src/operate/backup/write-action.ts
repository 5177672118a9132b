// The writes that plans about backups and about restores have in common: the Deployment of agents, pods, what drills are made
// of, and the finalizer of the resource. Rules: spec/backup.md [BK46], [BK70], [BK170].
import { foundationDbClusters } from "../../api/cluster.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf } from "../../kube/path.ts";
import type { Reflector } from "../../kube/reflector.ts";
import { deployments, pods } from "../../kube/resource.ts";
import type { Resource } from "../../kube/resource.ts";
import type { BackupAction } from "../../plan/backup/action.ts";
import { backupFinalizer } from "../../plan/backup/deletion.ts";
import type { Caches } from "../caches.ts";
import { deleteExactly } from "../delete-exactly.ts";
import type { Doubts } from "../doubts.ts";
import { createObject, updateObject } from "../write-object.ts";

export interface WriteInput<T extends KubeObject> {
  client: KubeClient;
  caches: Caches;
  doubts: Doubts;
  resource: Resource<T>;
  cache: Reflector<T>;
  object: T;
}

export type WriteAction = Exclude<BackupAction, { type: "setPaused" }>;

export async function writeAction<T extends KubeObject>(
  input: WriteInput<T>,
  action: WriteAction,
): Promise<void> {
  const { client, caches, doubts, object } = input;
  const { namespace = "", uid: ownerUid = "" } = object.metadata;
  const tools = { client, doubts, ownerUid };
  const place = { client, namespace, doubts };
  switch (action.type) {
    case "createDeployment":
      return createObject(tools, deployments, caches.deployments, action.object);
    case "updateDeployment":
      return updateObject(tools, deployments, caches.deployments, action.object);
    case "deleteDeployment":
      return deleteExactly(place, deployments, caches.deployments, action.basis);
    case "deletePod":
      return deleteExactly(place, pods, caches.pods, action.basis);
    case "createCommand":
      return createObject(tools, pods, caches.pods, action.object);
    case "createCheck":
      return createObject(tools, pods, caches.pods, action.object);
    case "createCluster":
      return createObject(tools, foundationDbClusters, caches.clusters, action.object);
    case "deleteCluster":
      return deleteExactly(place, foundationDbClusters, caches.clusters, action.basis);
    case "createRestore":
      return createObject(tools, foundationDbRestores, caches.restores, action.object);
    case "deleteRestore":
      return deleteExactly(place, foundationDbRestores, caches.restores, action.basis);
    case "setFinalizer":
      return setFinalizer(input, action.isPresent);
  }
}

/** The finalizers of others are kept; the version in the patch makes a change meanwhile a Conflict. */
async function setFinalizer<T extends KubeObject>(
  { client, doubts, resource, cache, object }: WriteInput<T>,
  isPresent: boolean,
): Promise<void> {
  const key = keyOf(object);
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== backupFinalizer);
  const finalizers = isPresent ? [...others, backupFinalizer] : others;
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  const stored = await doubts.during({ resource, cache, key }, () =>
    client.patch(resource, key, body, { type: "merge" }),
  );
  if (stored.metadata.deletionTimestamp === undefined) cache.observeWrite(stored);
  // The last finalizer of a resource that is being deleted takes it along.
  else cache.observeDelete(object, stored);
}
