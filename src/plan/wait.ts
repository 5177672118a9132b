// What the operator waits for, and why. A wait is a state of the world, not an error: it reaches
// status.blockedBy, the conditions, logs and the terminal in the same words. Every reason has a paragraph
// in docs/errors.md. Rules: spec/plan.md [P5]-[P7].

export const waitReasons = [
  "ActInFlight",
  "ActionFailed",
  "BackupAgentsForeign",
  "BackupAgentsNotReady",
  "BackupAgentsSilent",
  "BackupClusterMissing",
  "BackupCommandFailed",
  "BackupCommandRunning",
  "BackupCredentialsMissing",
  "BackupDestinationInUse",
  "BackupDestinationNotEmpty",
  "BackupErrors",
  "BackupIsLast",
  "BackupKeyUnusable",
  "BackupPauseDisputed",
  "BackupStopping",
  "BackupStoreRefused",
  "BackupStoreUnreachable",
  "BackupTagInUse",
  "BackupUrlInvalid",
  "BackupVersionMismatch",
  "BudgetExhausted",
  "CanaryFailed",
  "CanaryProving",
  "CertificateMissing",
  "ClientsIncompatible",
  "CommandRunning",
  "ConfigurationConflict",
  "ConfigurationNotInPod",
  "ConfigurationStaged",
  "ConfigurationUnsafe",
  "ConfigureDisabled",
  "ConnectionStringLost",
  "CoordinationForeign",
  "CoordinationSettling",
  "CoordinatorsMoved",
  "CoordinatorsNotRunning",
  "CoordinatorsUnfit",
  "DatabaseForeign",
  "DatabaseNotReady",
  "DatabaseUnavailable",
  "DatabaseUnreachable",
  "DiskSpaceLow",
  "EvidenceStale",
  "ExclusionPostponed",
  "ExclusionRunning",
  "FaultDomainNeedsNode",
  "FaultToleranceReduced",
  "HallsMissing",
  "InclusionPending",
  "InstanceNotReady",
  "LockHeld",
  "MaintenanceRunning",
  "NodeNotReady",
  "NotLeading",
  "PlanTooLong",
  "PodChangePending",
  "PodCrashLooping",
  "PodImageUnavailable",
  "PodNotReady",
  "PodPending",
  "PodTemplateUnusable",
  "PodTerminal",
  "PodTerminating",
  "PodUnschedulable",
  "PodUpdateHeld",
  "PrefixShared",
  "ProcessesMissing",
  "ProcessImpaired",
  "ProcessNeedsRestart",
  "RemovalBlocked",
  "RemovalPending",
  "ReplacementLimited",
  "ReplacementPostponed",
  "RestartHeld",
  "ServiceAddressMissing",
  "ServiceSurplus",
  "ShrinkPending",
  "SidecarUnreachable",
  "StatusIncomplete",
  "StatusOutdated",
  "StatusUnreadable",
  "UpgradePending",
  "UpgradeStaging",
  "VersionChangeRefused",
  "VolumeAtRisk",
  "VolumeChangeAnnounced",
  "VolumeLost",
  "VolumePending",
] as const;

export type WaitReason = (typeof waitReasons)[number];

/** Reasons that only backups have. */
export const backupReasons: readonly WaitReason[] = waitReasons.filter((reason) =>
  reason.startsWith("Backup"),
);

export interface Wait {
  /** The step of the chain that cannot go on. */
  step: string;
  reason: WaitReason;
  message: string;
  /** The object waited for, as kind/name; several of one kind are one wait that names them in its message. */
  object?: string;
  sinceMs: number;
  /** When it is looked at again at the latest; events look earlier. */
  retryAtMs: number;
  /** What a person can do. */
  remedy: string;
  /** Whether the answer will come from the database, so that its status is polled more often meanwhile. */
  isForDatabase?: boolean;
}

/** A wait before its history is known: `since` is filled in from the waits of the pass before. */
export type NewWait = Omit<Wait, "sinceMs" | "retryAtMs"> & { retryAfterMs: number };

/** Two waits are the same wait when step, reason and object agree: its age goes on. */
export function waitKey(wait: Pick<Wait, "step" | "reason" | "object">): string {
  return `${wait.step}/${wait.reason}/${wait.object ?? ""}`;
}

export function datedWaits(
  waits: readonly NewWait[],
  previous: readonly Pick<Wait, "step" | "reason" | "object" | "sinceMs">[],
  nowMs: number,
): Wait[] {
  const since = new Map<string, number>();
  for (const wait of previous) {
    // A wait for several objects and a wait for one of them are the same wait in another moment.
    for (const key of [waitKey(wait), waitKey({ ...wait, object: undefined })]) {
      since.set(key, Math.min(since.get(key) ?? Infinity, wait.sinceMs));
    }
  }
  return waits.map(({ retryAfterMs, ...wait }) => {
    const known = since.get(waitKey(wait)) ?? since.get(waitKey({ ...wait, object: undefined }));
    return { ...wait, sinceMs: Math.min(known ?? nowMs, nowMs), retryAtMs: nowMs + retryAfterMs };
  });
}

/** "a, b and c", with at most three names: a status must not grow with the size of the cluster. */
export function nameList(names: readonly string[]): string {
  const shown = names.slice(0, 3);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
