// Creates and updates objects that belong to a resource, and takes the answers into our copies.
// Rules: spec/operate.md [OP25], [OP26], [OP74].
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeObject, OwnerReference } from "../kube/object.ts";
import { keyOf } from "../kube/path.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Resource } from "../kube/resource.ts";
import type { Doubts } from "./doubts.ts";

export interface WriteTools {
  client: KubeClient;
  doubts: Doubts;
  /** The uid of the resource: objects that exist already must belong to it. */
  ownerUid: string;
}

/** An object that exists already is ours when an earlier answer was lost; then it is taken as created. */
export async function createObject<T extends KubeObject>(
  { client, doubts, ownerUid }: WriteTools,
  resource: Resource<T>,
  cache: Reflector<T>,
  object: T,
): Promise<void> {
  const key = keyOf(object);
  try {
    cache.observeWrite(
      await doubts.during({ resource, cache, key }, () => client.create(resource, object)),
    );
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
    const existing = await client.find(resource, key);
    const owners = existing?.metadata.ownerReferences ?? [];
    if (existing === undefined || owners.every((owner) => owner.uid !== ownerUid)) throw error;
    cache.observeWrite(existing);
  }
}

export async function updateObject<T extends KubeObject>(
  { client, doubts }: WriteTools,
  resource: Resource<T>,
  cache: Reflector<T>,
  object: T,
): Promise<void> {
  const place = { resource, cache, key: keyOf(object) };
  cache.observeWrite(await doubts.during(place, () => client.update(resource, object)));
}

/** As operations of a JSON patch. */
export function newOwners(owners: readonly OwnerReference[] | undefined) {
  if (owners === undefined) return [];
  return [{ op: "add", path: "/metadata/ownerReferences", value: owners }];
}
