// Step updateNetworkPolicy: one NetworkPolicy over all pods of a cluster. It comes before anything that makes a process listen
// elsewhere, lets in at once whom it did not, and shuts nobody out whom the database needs. Rules: spec/network.md.
import { foundationDbClusters } from "../../api/cluster.ts";
import { clusterNameLabel } from "../../api/effective.ts";
import { networkPolicy, networkPolicySpec, operatorPeers } from "../../build/network-policy.ts";
import { evictionSelector } from "../../build/disruption-budget.ts";
import { mostOf } from "../../env/long-lists.ts";
import type { NetworkPolicy, NetworkPolicySpec } from "../../kube/generated/types.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesLabelSelector } from "../../kube/selector.ts";
import type { Action } from "../action.ts";
import { isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { isLeftBehind, isOwned, ownersFor } from "../view/left-behind.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { isSameJson } from "../view/same-json.ts";
import { nameList } from "../wait.ts";
import { cutOff } from "./cut-off.ts";
import { isWidening, widened } from "./wider.ts";

const step = "updateNetworkPolicy";

export function updateNetworkPolicy(snapshot: Snapshot, draft: Draft): StepResult {
  const { cluster, networkPolicies, options } = snapshot;
  const own = ownPolicy(snapshot);
  if (cluster.spec.networkPolicy?.enabled !== true) {
    return own === undefined ? nothing : { actions: removalOf(own) };
  }
  if (networkPolicies === undefined) return withoutRights;
  const foreign = networkPolicies.find(
    (policy) => policy !== own && policy.metadata.name === cluster.metadata.name,
  );
  if (own === undefined && foreign !== undefined) return foreignPolicy(foreign);
  if (operatorPeers(cluster, options.operatorNamespace) === undefined) return unknownPlace;
  // One that is being deleted is made anew when it is gone.
  if (own?.metadata.deletionTimestamp !== undefined) return { isUnfinished: true };
  const wanted = networkPolicySpec(draft.desired.cluster, surroundingsOf(snapshot));
  const shared = podsOfOthers(snapshot, wanted);
  if (shared.length > 0) return sharedLabels(draft, own, wanted, shared);
  if (own !== undefined && isOwned(cluster, own) && isSameJson(own.spec, wanted)) return nothing;
  const isForMore = own?.spec !== undefined && holdsForMore(snapshot, own.spec, wanted);
  if (own?.spec !== undefined && !isForMore && isWidening(own.spec, wanted)) {
    return { actions: writeOf(draft, own, wanted) };
  }
  const problem = cutOff(snapshot, draft);
  if (problem === undefined) return { actions: writeOf(draft, own, wanted) };
  const all = own?.spec === undefined ? undefined : widened(own.spec, wanted);
  const wider = isForMore && all ? { ...all, podSelector: own.spec?.podSelector ?? {} } : all;
  const actions =
    wider === undefined || isSameJson(own?.spec, wider) ? [] : writeOf(draft, own, wider);
  // The first answer of the database is under way.
  if (isStatusPending(snapshot)) return { actions, isUnfinished: true };
  const { message, remedy, isForDatabase } = problem;
  const what =
    own === undefined ? "The network policy is not made" : "The network policy is not narrowed";
  const wait = { step, reason: "NetworkPolicyHeld", remedy, isForDatabase } as const;
  return {
    actions,
    waits: [{ ...wait, message: `${what}. ${message}`, retryAfterMs: 60_000 }],
    isUnfinished: true,
  };
}

/** Pods of the cluster that nobody was shut out from, since somebody has changed whom the policy holds for. */
function holdsForMore(
  { pods }: Snapshot,
  current: NetworkPolicySpec,
  wanted: NetworkPolicySpec,
): boolean {
  return [...pods.values()].some(({ metadata: { labels = {} } }) => {
    const isHeld = ({ podSelector = {} }: NetworkPolicySpec): boolean =>
      matchesLabelSelector(podSelector, labels);
    return isHeld(wanted) && !isHeld(current);
  });
}

/** Pods of other clusters that the policy would hold for: it names nobody who has to reach them. */
function podsOfOthers({ cluster, neighbours = [] }: Snapshot, wanted: NetworkPolicySpec): string[] {
  const { namespace, name } = cluster.metadata;
  return neighbours
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        ownerOf(metadata) !== name &&
        matchesLabelSelector(wanted.podSelector ?? {}, metadata.labels ?? {}),
    )
    .map(({ metadata }) => metadata.name ?? "")
    .sort();
}

/** The cluster that a pod belongs to; one that was left behind under our name is nobody else's. */
function ownerOf({ ownerReferences = [], labels = {} }: ObjectMeta): string | undefined {
  const owner = ownerReferences.find(({ kind }) => kind === foundationDbClusters.kind);
  return owner?.name ?? labels[clusterNameLabel];
}

/** Who is named is let in all the same, where there is a policy; it holds for the pods that it held for. */
function sharedLabels(
  draft: Draft,
  own: Stored<NetworkPolicy> | undefined,
  wanted: NetworkPolicySpec,
  names: readonly string[],
): StepResult {
  const wider = own?.spec && widened(own.spec, wanted);
  const kept = wider && { ...wider, podSelector: own.spec?.podSelector ?? {} };
  const isWritten = kept !== undefined && !isSameJson(own?.spec, kept);
  const what = own === undefined ? "not made" : "not changed";
  const message = `The network policy is ${what}. Pods of other clusters have the same labels: ${nameList(names)}`;
  const remedy = "Give this cluster labels that no other one has: spec.labels.matchLabels.";
  const wait = { step, reason: "NetworkPolicyHeld", retryAfterMs: 60_000 } as const;
  return {
    actions: isWritten ? writeOf(draft, own, kept) : [],
    waits: [{ ...wait, message, remedy }],
    isUnfinished: true,
  };
}

/** Others may want theirs to go with the resource as well: the name tells which is ours. */
function ownPolicy({ cluster, networkPolicies }: Snapshot): Stored<NetworkPolicy> | undefined {
  return networkPolicies?.find((policy) => {
    if (isOwned(cluster, policy)) return true;
    const { podSelector, policyTypes } = policy.spec ?? {};
    // It holds for what ours hold for, which nobody else would write so.
    const isMade =
      isSameJson(podSelector, evictionSelector(cluster)) && isSameJson(policyTypes, ["Ingress"]);
    return isMade && isLeftBehind(cluster, policy);
  });
}

function surroundingsOf(snapshot: Snapshot) {
  const selector = evictionSelector(snapshot.cluster);
  const pods = [...snapshot.pods.values()];
  return {
    operatorNamespace: snapshot.options.operatorNamespace,
    serversMaximum: mostOf(
      pods.map((pod) => shapeOfPod(snapshot, pod).servers),
      0,
    ),
    hasStrangePods: pods.some(
      ({ metadata }) => !matchesLabelSelector(selector, metadata.labels ?? {}),
    ),
  };
}

function writeOf(
  { desired }: Draft,
  own: Stored<NetworkPolicy> | undefined,
  spec: NetworkPolicySpec,
): Action[] {
  if (own !== undefined) {
    const owners = ownersFor(desired.cluster, own);
    return [{ type: "updateNetworkPolicy", step, basis: basisOf(own), spec, ...owners }];
  }
  return [{ type: "createNetworkPolicy", step, object: networkPolicy(desired.cluster, spec) }];
}

function basisOf({ metadata }: Stored<NetworkPolicy>) {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  return { name, uid, resourceVersion };
}

function removalOf(own: Stored<NetworkPolicy>): Action[] {
  if (own.metadata.deletionTimestamp !== undefined) return [];
  return [{ type: "deleteNetworkPolicy", step, basis: basisOf(own) }];
}

const withoutRights: StepResult = {
  waits: [
    {
      ...{ step, reason: "NetworkPolicyForbidden", retryAfterMs: 600_000 },
      message: "The operator may not look at NetworkPolicies, so it keeps none",
    },
  ],
  isUnfinished: true,
};

function foreignPolicy({ metadata }: Stored<NetworkPolicy>): StepResult {
  const message = `NetworkPolicy ${metadata.name ?? ""} belongs to somebody else, and the policy of this cluster would have its name`;
  const wait = { step, reason: "NetworkPolicyForeign", message, retryAfterMs: 600_000 } as const;
  return { waits: [wait], isUnfinished: true };
}

const unknownPlace: StepResult = {
  waits: [
    {
      ...{ step, reason: "NetworkPolicyHeld", retryAfterMs: 600_000 },
      message:
        "The network policy is not made. This operator runs outside of Kubernetes, and the policy would cut it off",
      remedy: "Say where the operator is: spec.networkPolicy.operator, as a block of addresses.",
    },
  ],
  isUnfinished: true,
};
