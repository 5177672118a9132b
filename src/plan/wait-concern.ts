// How much a wait concerns people: whether it passes by itself, deserves a look when it lasts, or ends only when a
// person does something. Conditions, events and `explain` judge waits by it. Rules: spec/explain.md [E20], [E21].
import type { WaitReason } from "./wait.ts";

/** "passing": usual, ends by itself. "look": not usual when it lasts. "person": nobody else can end it. */
export type Concern = "passing" | "look" | "person";

const concerns: Readonly<Record<WaitReason, Concern>> = {
  ActInFlight: "passing",
  ActionFailed: "look",
  BudgetExhausted: "look",
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
  CoordinatorsNotRunning: "look",
  CoordinatorsUnfit: "look",
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
  ProcessesMissing: "look",
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
  UpgradePending: "look",
  UpgradeStaging: "passing",
  VersionChangeRefused: "person",
  VolumeAtRisk: "look",
  VolumeLost: "look",
  VolumePending: "look",
};

/** Also of a reason that is no wait of a step: a spec that is refused needs its author. */
export function concernOf(reason: string): Concern {
  if (reason === "InvalidSpec") return "person";
  return concerns[reason as WaitReason] ?? "passing";
}
