// Where the pods of a packed process group run: beside their own logical fault domain, and on no host of another domain
// of their class. A host with two domains of a class that keeps data would make FoundationDB believe in a redundancy that
// is not there. Carries the rules PACK21 to PACK25 of spec/packing.md.
import { labelsOf } from "../api/effective.ts";
import type { Affinity, LabelSelector, PodAffinityTerm } from "../kube/generated/types.ts";
import { isLogProcess, isStateful } from "../model/process-class.ts";
import { distributionKeyLabel, selectorLabels } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import type { PodSubject } from "./pod-subject.ts";

/** Terms of the user stay before ours. */
export function withPacking(
  cluster: NormalCluster,
  subject: PodSubject,
  topologyKey: string,
  given: Affinity | undefined,
): Affinity {
  const { podAffinity: near, podAntiAffinity: far } = given ?? {};
  const together = {
    weight: 1,
    podAffinityTerm: { labelSelector: ownDomain(cluster, subject), topologyKey },
  };
  const apart: PodAffinityTerm = { labelSelector: otherDomains(cluster, subject), topologyKey };
  const isRequired = isStateful(subject.processClass);
  const required = [
    ...(far?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(isRequired ? [apart] : []),
  ];
  const preferred = [
    ...(far?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(isRequired ? [] : [{ weight: 100, podAffinityTerm: apart }]),
    ...otherKind(cluster, subject, topologyKey),
  ];
  return {
    ...given,
    podAffinity: {
      ...near,
      preferredDuringSchedulingIgnoredDuringExecution: [
        ...(near?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
        together,
      ],
    },
    podAntiAffinity: {
      ...far,
      ...(required.length > 0 ? { requiredDuringSchedulingIgnoredDuringExecution: required } : {}),
      ...(preferred.length > 0
        ? { preferredDuringSchedulingIgnoredDuringExecution: preferred }
        : {}),
    },
  };
}

const logClasses: readonly string[] = ["log", "transaction"];

/** Both kinds run transaction logs, so that to FoundationDB they are one class. */
function classesLike(processClass: string): readonly string[] {
  return isLogProcess(processClass) ? logClasses : [processClass];
}

function ownDomain(cluster: NormalCluster, subject: PodSubject): LabelSelector {
  const matchLabels = selectorLabels(cluster, {});
  return { matchLabels: { ...matchLabels, [distributionKeyLabel]: subject.distributionKey ?? "" } };
}

/** `NotIn` also finds pods without the label, so that packed and unpacked pods keep apart. */
function otherDomains(cluster: NormalCluster, subject: PodSubject): LabelSelector {
  const values = [subject.distributionKey ?? ""];
  return {
    matchLabels: selectorLabels(cluster, {}),
    matchExpressions: [
      ofClasses(cluster, classesLike(subject.processClass)),
      { key: distributionKeyLabel, operator: "NotIn", values },
    ],
  };
}

/**
 * Storage and logs write a lot, and each is the copy of what the other holds: other hosts are better. The scheduler
 * reads this wish in both directions, and one for unpacked pods would outweigh theirs for different hosts: when packing
 * is turned off they would all come up on the few hosts without the other kind, in too few zones to go on.
 */
function otherKind(cluster: NormalCluster, subject: PodSubject, topologyKey: string) {
  const isStorage = subject.processClass === "storage";
  if (!isStorage && !isLogProcess(subject.processClass)) return [];
  const labelSelector: LabelSelector = {
    matchLabels: selectorLabels(cluster, {}),
    matchExpressions: [
      ofClasses(cluster, isStorage ? logClasses : ["storage"]),
      { key: distributionKeyLabel, operator: "Exists" },
    ],
  };
  return [{ weight: 50, podAffinityTerm: { labelSelector, topologyKey } }];
}

function ofClasses(cluster: NormalCluster, classes: readonly string[]) {
  const [key = ""] = labelsOf(cluster).processClassLabels;
  return { key, operator: "In", values: [...classes] };
}
