// Deletes exactly the object that was looked at, and takes it out of our copy. Rules: spec/operate.md [OP21], [OP29], [OP75].
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Resource } from "../kube/resource.ts";
import type { ObjectBasis } from "../plan/action.ts";
import type { Doubts } from "./doubts.ts";

export interface DeleteTools {
  client: KubeClient;
  namespace: string;
  doubts: Doubts;
}

/** Another object of the name, or a changed one, is a Conflict. */
export async function deleteExactly<T extends KubeObject>(
  { client, namespace, doubts }: DeleteTools,
  resource: Resource<T>,
  cache: Reflector<T>,
  basis: ObjectBasis,
): Promise<void> {
  const key = { namespace, name: basis.name };
  const known = cache.get(key);
  const { uid, resourceVersion } = basis;
  const preconditions = { uid, resourceVersion };
  const answer = await doubts.during({ resource, cache, key }, async () => {
    try {
      return await client.delete(resource, key, { preconditions });
    } catch (error) {
      // Somebody else was faster; that it is gone is what we wanted.
      if (!isKubeError(error, "NotFound")) throw error;
      return undefined;
    }
  });
  if (known !== undefined) cache.observeDelete(known, answer);
}
