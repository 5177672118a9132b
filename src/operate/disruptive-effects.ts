// The writes that can take something away from a database. Only the guard imports this file; a test proves it.
import type { AdminClient } from "../fdb/admin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Reflector } from "../kube/reflector.ts";
import { pods } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { ObjectBasis } from "../plan/action.ts";

/** Deletes exactly the pod that was looked at: another one, or a changed one, is a Conflict. */
export async function deletePod(
  client: KubeClient,
  cache: Reflector<Stored<Pod>>,
  namespace: string,
  basis: ObjectBasis,
): Promise<void> {
  const key = { namespace, name: basis.name };
  const known = cache.get(key);
  const { uid, resourceVersion } = basis;
  try {
    const answer = await client.delete(pods, key, { preconditions: { uid, resourceVersion } });
    if (known !== undefined) cache.observeDelete(known, answer);
  } catch (error) {
    // Somebody else was faster; that it is gone is what we wanted.
    if (!isKubeError(error, "NotFound")) throw error;
  }
}

export async function configureDatabase(
  client: AdminClient,
  configureArguments: string,
  timeoutMs: number,
): Promise<void> {
  await client.configure(configureArguments, timeoutMs);
}
