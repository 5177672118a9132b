// Writes the network policy of a cluster; another object of the name is left alone. A change is written only over what it was
// decided on: a policy that somebody widened meanwhile is looked at first. Rules: spec/network.md [NET10], spec/operate.md [OP25].
import type { NetworkPolicy } from "../kube/generated/types.ts";
import type { Reflector } from "../kube/reflector.ts";
import { networkPolicies } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { Action } from "../plan/action.ts";
import { deleteExactly } from "./delete-exactly.ts";
import { createObject, newOwners } from "./write-object.ts";
import type { WriteTools } from "./write-object.ts";

type PolicyAction = Extract<
  Action,
  { type: "createNetworkPolicy" | "updateNetworkPolicy" | "deleteNetworkPolicy" }
>;

export async function writeNetworkPolicy(
  tools: WriteTools,
  namespace: string,
  cache: Reflector<Stored<NetworkPolicy>> | undefined,
  action: PolicyAction,
): Promise<void> {
  // Without a look at policies no plan asks for one.
  if (cache === undefined) return;
  if (action.type === "createNetworkPolicy") {
    return createObject(tools, networkPolicies, cache, action.object);
  }
  const { client, doubts } = tools;
  if (action.type === "deleteNetworkPolicy") {
    return deleteExactly({ client, doubts, namespace }, networkPolicies, cache, action.basis);
  }
  const { name, uid, resourceVersion } = action.basis;
  const key = { namespace, name };
  const body = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "replace", path: "/spec", value: action.spec },
    ...newOwners(action.owners),
  ];
  const place = { resource: networkPolicies, cache, key };
  cache.observeWrite(
    await doubts.during(place, () => client.patch(networkPolicies, key, body, { type: "json" })),
  );
}
