// How much a wait concerns people: whether it passes by itself, deserves a look when it lasts, or ends only when a
// person does something. Conditions, events and `explain` judge waits by it. Rules: spec/explain.md [E20], [E21].
import type { WaitReason } from "./wait.ts";

/** "passing": usual, ends by itself. "look": not usual when it lasts. "person": nobody else can end it. */
export type Concern = "passing" | "look" | "person";

const concerns: Readonly<Record<WaitReason, Concern>> = {
  ActInFlight: "passing",
  ActionFailed: "look",
  BackupAgentsForeign: "person",
  BackupAgentsNotReady: "look",
  BackupAgentsSilent: "look",
  BackupClusterMissing: "person",
  BackupCommandFailed: "look",
  BackupCommandRunning: "passing",
  BackupCredentialsMissing: "person",
  BackupDestinationInUse: "person",
  BackupDestinationNotEmpty: "person",
  BackupErrors: "look",
  BackupIsLast: "person",
  BackupKeyUnusable: "person",
  BackupPauseDisputed: "person",
  BackupStopping: "passing",
  BackupStoreRefused: "person",
  BackupStoreUnreachable: "look",
  BackupTagInUse: "person",
  BackupUrlInvalid: "person",
  BackupVersionMismatch: "person",
  BudgetExhausted: "look",
  CanaryFailed: "person",
  CanaryProving: "passing",
  CertificateMissing: "passing",
  ClientsIncompatible: "person",
  CommandRunning: "passing",
  ConfigurationConflict: "person",
  ConnectionStringLost: "person",
  ConfigurationNotInPod: "look",
  ConfigurationStaged: "passing",
  ConfigurationUnsafe: "look",
  ConfigureDisabled: "person",
  CoordinationForeign: "person",
  CoordinationSettling: "passing",
  CoordinatorsMoved: "person",
  CoordinatorsNotRunning: "look",
  CoordinatorsUnfit: "look",
  DatabaseForeign: "person",
  DatabaseNotReady: "look",
  DatabaseUnavailable: "look",
  DatabaseUnreachable: "look",
  DiskSpaceLow: "look",
  EvidenceStale: "passing",
  ExclusionPostponed: "passing",
  ExclusionRunning: "passing",
  FaultDomainNeedsNode: "look",
  FaultToleranceReduced: "look",
  HallsMissing: "person",
  InclusionPending: "passing",
  InstanceNotReady: "look",
  LockHeld: "look",
  MaintenanceRunning: "passing",
  NodeNotReady: "look",
  NotLeading: "passing",
  PlanTooLong: "look",
  PodChangePending: "person",
  PodCrashLooping: "look",
  PodImageUnavailable: "look",
  PodNotReady: "look",
  PodPending: "passing",
  PodTemplateUnusable: "person",
  PodTerminal: "passing",
  PodTerminating: "look",
  PodUnschedulable: "look",
  PodUpdateHeld: "look",
  PrefixShared: "person",
  ProcessesMissing: "look",
  ProcessImpaired: "look",
  ProcessNeedsRestart: "person",
  RemovalBlocked: "person",
  RemovalPending: "passing",
  ReplacementLimited: "look",
  ReplacementPostponed: "passing",
  RestartHeld: "passing",
  ServiceAddressMissing: "look",
  ServiceSurplus: "look",
  ShrinkPending: "passing",
  SidecarUnreachable: "look",
  StatusIncomplete: "look",
  StatusOutdated: "passing",
  StatusUnreadable: "look",
  UpgradePending: "look",
  UpgradeStaging: "passing",
  VersionChangeRefused: "person",
  VolumeAtRisk: "look",
  VolumeChangeAnnounced: "passing",
  VolumeLost: "look",
  VolumePending: "look",
};

/** Also of a reason that is no wait of a step: a spec that is refused needs its author. */
export function concernOf(reason: string): Concern {
  if (reason === "InvalidSpec") return "person";
  return concerns[reason as WaitReason] ?? "passing";
}

const minuteMs = 60_000;
/** What usually passes and has lasted for so long deserves a look. */
const longMs = 60 * minuteMs;

/** What ordinary work (a new version, another redundancy, pods made again) brings with it for some minutes. */
const usualMs: Readonly<Partial<Record<WaitReason, number>>> = {
  BudgetExhausted: 10 * minuteMs,
  ConfigurationNotInPod: 3 * minuteMs,
  ConfigurationUnsafe: 5 * minuteMs,
  CoordinatorsNotRunning: 3 * minuteMs,
  CoordinatorsUnfit: 10 * minuteMs,
  FaultToleranceReduced: 10 * minuteMs,
  InstanceNotReady: 5 * minuteMs,
  LockHeld: 10 * minuteMs,
  PodNotReady: 3 * minuteMs,
  ProcessesMissing: 3 * minuteMs,
  SidecarUnreachable: 3 * minuteMs,
  UpgradePending: 10 * minuteMs,
};

/** How much a wait of this age concerns people. */
export function concernAt(reason: string, ageMs: number): Concern {
  const concern = concernOf(reason);
  if (concern === "passing") return ageMs >= longMs ? "look" : concern;
  if (concern === "person") return concern;
  return ageMs < (usualMs[reason as WaitReason] ?? minuteMs) ? "passing" : "look";
}
