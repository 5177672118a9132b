// The wish for a NetworkPolicy over the pods of a database: who besides the database itself may connect to them.
// Rules: spec/network.md [NET1].
import type { NetworkPolicyPeer } from "../kube/generated/types.ts";
import { coreSchema } from "./core-schema.ts";
import { array, boolean, enumeration, object } from "./schema.ts";
import type { Schema, TypeOf } from "./schema.ts";

/** Of one list: enough for every network that anybody names, and what a policy with its lists stays small with. */
export const networkPeersMaximum = 64;

/** What a person may accept on purpose so that the policy is made or narrowed all the same. */
export const networkConsents = ["ConnectedClients"] as const;
export type NetworkConsent = (typeof networkConsents)[number];

function peersOf(description: string, effective: string): Schema<readonly NetworkPolicyPeer[]> {
  const peer = coreSchema<NetworkPolicyPeer>(
    "io.k8s.api.networking.v1.NetworkPolicyPeer",
    "Pods by labels, namespaces by labels, or a block of addresses.",
  );
  return array(peer, description, { maxItems: networkPeersMaximum, effective });
}

export const networkPolicySchema = object(
  {
    enabled: boolean("Keeps a NetworkPolicy over the pods of the database.", {
      effective: "false",
    }),
    clients: peersOf("Who may connect to the processes, besides the database itself.", "nobody"),
    peers: peersOf(
      "Processes and operators of the same database that this resource does not look after: those of other resources, in this Kubernetes cluster or in others.",
      "nobody",
    ),
    operator: peersOf(
      "Where the operator of this resource runs.",
      "all pods of the namespace that it runs in",
    ),
    metrics: peersOf("Who may ask the monitors for their metrics.", "nobody"),
    despite: array(
      enumeration(networkConsents, ""),
      "What the policy need not wait for: clients that are connected and that it would cut off.",
      { maxItems: networkConsents.length },
    ),
  },
  "A NetworkPolicy that lets only those in who are named. Connections that the pods make themselves are not limited.",
);

export type NetworkPolicyWish = TypeOf<typeof networkPolicySchema>;

/** The lists of peers that a wish may have. */
export const networkPeerLists = ["clients", "peers", "operator", "metrics"] as const;
