// Names of the faults that happen in lives beside their steps; life-faults.ts has what they are. They are part of the ids
// by which events are left out, and a seed draws by them, so that a name that changes makes other lives.

export const faultNames = [
  "edited-labels",
  "lost-config",
  "spoilt-config",
  "lost-service",
  "wiped-status",
  "forgotten-string",
  "held-pod",
  "held-claim",
  "many-removals",
  "paused",
  "maintenance",
  "taint",
  "lost-rights",
  "quota",
  "webhook",
  "silent-server",
  "silent-database",
  "silent-sidecars",
  "shuffled",
  "suspended",
  "old-names",
  "behind",
  "clock-back",
  "renewed-certificate",
  "expired-certificate",
  "asleep",
  "fenced",
  "announced",
  "drained",
  "urgent",
  "tied",
] as const;

/** Only where they are named: they are rare in earnest, too. */
export const rareFaultNames = ["power-cut", "other-family"] as const;

export type FaultName = (typeof faultNames)[number] | (typeof rareFaultNames)[number];
