// A database that wakes is found as it was when it fell asleep: coordinators that are known by names, or by addresses of
// services, need pods that have them. What the spec wants by now follows when it serves. Rules: spec/hibernation.md [HIB12].
import { isAvailable } from "../../model/availability.ts";
import type { Snapshot } from "../snapshot.ts";
import { databaseStatus } from "../snapshot.ts";

export function withWakingNames(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const hibernation = cluster.status?.hibernation;
  const isServing = isAvailable(databaseStatus(snapshot));
  if (hibernation === undefined || isServing) return snapshot;
  const { routing: _, ...rest } = cluster.spec;
  const { routing } = hibernation;
  return { ...snapshot, cluster: { ...cluster, spec: { ...rest, ...(routing && { routing }) } } };
}
