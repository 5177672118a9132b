// Which of several waits is named first: what explains the others. A node that is gone explains a pod that does not
// run, and that explains nearly everything else. Rules: spec/explain.md [E47].
import type { WaitReason } from "./wait.ts";

/** From cause to consequence; reasons that are not listed follow in the order of the steps. */
const ranks: readonly (readonly WaitReason[])[] = [
  ["ActionFailed", "DatabaseForeign", "PlanTooLong", "StatusUnreadable"],
  ["VolumeAtRisk", "VolumeLost"],
  ["CoordinatorsMoved"],
  ["HallsMissing"],
  ["NodeNotReady"],
  [
    "DiskSpaceLow",
    "FaultDomainNeedsNode",
    "PodCrashLooping",
    "PodImageUnavailable",
    "PodTemplateUnusable",
    "PodUnschedulable",
    "ServiceAddressMissing",
    "VolumePending",
  ],
  ["CanaryFailed"],
  ["PodNotReady", "SidecarUnreachable"],
  ["ProcessesMissing"],
];

const rankOf = new Map<string, number>(
  ranks.flatMap((reasons, rank) => reasons.map((reason) => [reason, rank] as const)),
);

export function causesFirst<T extends { reason: WaitReason }>(waits: readonly T[]): T[] {
  const rank = (wait: T): number => rankOf.get(wait.reason) ?? ranks.length;
  return waits.toSorted((left, right) => rank(left) - rank(right));
}
