// What the figures are held against: the Go operator 2.33.0 as measured on a real API server, and
// this project's own aims.

/** Creation with the Go operator; ranges are given by their middle. Without leases and watches. */
const goCreation = [
  { groups: 15, requests: 121.5, statusWrites: 16.5 },
  { groups: 40, requests: 264, statusWrites: 14 },
] as const;

/** Resident memory in MiB and seconds from its start until it works. */
export const goProcess = {
  emptyMiB: 71,
  oneClusterMiB: 117,
  peakMiB: 133,
  startSeconds: 1.2,
  reconciledSeconds: "24-98",
};

export const aims = {
  /** Of the Go operator's requests and status writes. */
  shareOfGo: 0.5,
  knobRecoveries: 1,
  /** More than that for the process group that proves a knob before all others: a status write, and an event. */
  canary: { statusWrites: 1, requests: 2 },
  noOp: { groups: 500, cpuMs: 25, writes: 0 },
  growth: { from: 100, to: 2000, factor: 1.5 },
  memoryMiB: 100,
  /** With 200 clusters. */
  manyMemoryMiB: 1_536,
  firstActMs: 5_000,
  /** A turn of the operator, in processor time: so long all clusters wait for one. */
  longestTurnMs: 200,
} as const;

export interface PerGroup {
  requests: number;
  statusWrites: number;
}

/**
 * At most this much per process group. Between the two measured sizes the totals are interpolated;
 * beyond them the figures per process of the nearer one hold.
 */
export function creationAim(groups: number): PerGroup {
  const [small, large] = goCreation;
  const at = Math.min(Math.max(groups, small.groups), large.groups);
  const part = (at - small.groups) / (large.groups - small.groups);
  const between = (from: number, to: number): number =>
    ((from + (to - from) * part) / at) * aims.shareOfGo;
  return {
    requests: between(small.requests, large.requests),
    statusWrites: between(small.statusWrites, large.statusWrites),
  };
}

export function mark(isMet: boolean): "ok" | "MISSED" {
  return isMet ? "ok" : "MISSED";
}
