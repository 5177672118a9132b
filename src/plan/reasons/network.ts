// Reasons around the network policy of a cluster.
import type { Reason } from "./reason.ts";

export const networkReasons = {
  NetworkPolicyForbidden: {
    concern: "person",
    meaning:
      "`spec.networkPolicy.enabled` asks for a NetworkPolicy, and the role of the operator does not allow it " +
      "to look at them: it is older than this. Everything else goes on, and connections are not limited.",
    remedy:
      "Give the operator the role of its chart: get, list, watch, create, patch and delete networkpolicies.",
    page: "network-policy",
  },
  NetworkPolicyForeign: {
    concern: "person",
    meaning:
      "A NetworkPolicy with the name of the cluster is there that the operator did not make. It is left as it " +
      "is, and the cluster has none of its own.",
    remedy:
      "Give yours another name, and the operator makes its own. Or set spec.networkPolicy.enabled to false.",
    page: "network-policy",
  },
  NetworkPolicyHeld: {
    concern: "person",
    meaning:
      "The network policy that the spec asks for would cut off somebody who is connected now: another part of " +
      "the database, a client that no entry could mean, or the operator itself; or nobody can tell, because the " +
      "database does not answer; or it would hold for pods of other clusters, too, which have the same labels. Whoever the spec names besides is let in at once; nobody is shut out before " +
      "this is settled.",
    page: "network-policy",
  },
} as const satisfies Readonly<Record<string, Reason>>;
