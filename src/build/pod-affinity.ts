// Where the pods of a cluster may and would rather run. Carries the rules B54 and B55 of spec/build.md and
// HALL7 of spec/halls.md.
import { faultDomainOf } from "../api/effective.ts";
import { hallSpreadOf } from "../api/hall-spread.ts";
import type { Affinity } from "../kube/generated/types.ts";
import { topologyKeyOf } from "../model/fault-domain.ts";
import { hallOf, isPacked } from "../model/process-group.ts";
import { selectorLabels } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import { withPacking } from "./packed-affinity.ts";
import type { PodSubject } from "./pod-subject.ts";

/** A label that no node has. */
export const noScheduleLabel = "foundationdb.org/no-schedule-allowed";

export function podAffinity(
  cluster: NormalCluster,
  subject: PodSubject,
  given: Affinity | undefined,
): Affinity | undefined {
  const spread = withHall(cluster, subject, withSpread(cluster, subject, given));
  const isHeldBack = (cluster.spec.buggify?.noSchedule ?? []).includes(subject.processGroupID);
  return isHeldBack ? withoutNode(spread) : spread;
}

/** Pods of one class would rather not share a fault domain; terms of the user stay before ours. */
function withSpread(
  cluster: NormalCluster,
  subject: PodSubject,
  given: Affinity | undefined,
): Affinity | undefined {
  const topologyKey = topologyKeyOf(faultDomainOf(cluster.spec));
  if (topologyKey === undefined) return given;
  if (isPacked(subject)) return withPacking(cluster, subject, topologyKey, given);
  const matchLabels = selectorLabels(cluster, { processClass: subject.processClass });
  const anti = given?.podAntiAffinity;
  return {
    ...given,
    podAntiAffinity: {
      ...anti,
      preferredDuringSchedulingIgnoredDuringExecution: [
        ...(anti?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        { weight: 1, podAffinityTerm: { labelSelector: { matchLabels }, topologyKey } },
      ],
    },
  };
}

/** Terms of the user are alternatives, so the hall goes into each of them. */
function withHall(
  cluster: NormalCluster,
  subject: PodSubject,
  affinity: Affinity | undefined,
): Affinity | undefined {
  const hall = hallOf(subject);
  const topologyKey = hallSpreadOf(cluster.spec)?.topologyKey;
  if (hall === "" || topologyKey === undefined) return affinity;
  const nodeAffinity = affinity?.nodeAffinity;
  const given = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const expression = { key: topologyKey, operator: "In", values: [hall] };
  const nodeSelectorTerms = (given ?? [{}]).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), expression],
  }));
  return {
    ...affinity,
    nodeAffinity: {
      ...nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    },
  };
}

function withoutNode(affinity: Affinity | undefined): Affinity {
  const expression = { key: noScheduleLabel, operator: "In", values: ["true"] };
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [expression] }],
      },
    },
  };
}
