// Names of the faults that come beside the usual ones in lives with backups; backup-faults.ts has what they are.

export const backupFaultNames = [
  "slow-store",
  "failing-store",
  "full-store",
  "unreachable-store",
  "hanging-store",
  "skewed-store",
  "wrong-secret",
  "dead-agents",
  "lost-deployment",
  "lost-command",
  "no-room",
  "lost-times",
  "spoilt-times",
  "paused-by-hand",
  "wiped-restore",
] as const;

export type BackupFaultName = (typeof backupFaultNames)[number];
