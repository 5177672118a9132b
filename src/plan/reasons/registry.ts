// All reasons. A new one is an entry in the file of its subject: metrics, conditions, events, `explain` and docs/errors.md
// (`npm run generate`) follow. Rules: spec/plan.md [P7].
import { actReasons } from "./acts.ts";
import { backupReasons } from "./backups.ts";
import { databaseReasons } from "./database.ts";
import { drainReasons } from "./drains.ts";
import { fencingReasons } from "./fencing.ts";
import { hibernationReasons } from "./hibernation.ts";
import { instanceReasons } from "./instances.ts";
import { migrationReasons } from "./migration.ts";
import { networkReasons } from "./network.ts";
import { podReasons } from "./pods.ts";
import { processGroupReasons } from "./process-groups.ts";
import type { Reason } from "./reason.ts";
import { resourceReasons } from "./resources.ts";
import { restoreReasons } from "./restores.ts";

const clusterRegistry = {
  ...actReasons,
  ...databaseReasons,
  ...drainReasons,
  ...fencingReasons,
  ...hibernationReasons,
  ...instanceReasons,
  ...migrationReasons,
  ...networkReasons,
  ...podReasons,
  ...processGroupReasons,
};

const waitRegistry = { ...clusterRegistry, ...backupReasons, ...restoreReasons };
const registry: Readonly<Record<string, Reason>> = { ...waitRegistry, ...resourceReasons };

export type WaitReason = keyof typeof waitRegistry;

/** Reasons whose remedy is always the same. */
export type RemediedReason = {
  [K in WaitReason]: (typeof waitRegistry)[K] extends { remedy: string } ? K : never;
}[WaitReason];

/** Of waits, sorted. */
export const clusterWaitReasons = namesOf(clusterRegistry);
export const backupWaitReasons = namesOf(backupReasons);
export const restoreWaitReasons = namesOf(restoreReasons);
export const waitReasons = namesOf(waitRegistry);
/** Of resources for which nothing is done. */
export const refusedReasons = namesOf(resourceReasons);

function namesOf<T extends object>(reasons: T): readonly Extract<keyof T, string>[] {
  return (Object.keys(reasons) as Extract<keyof T, string>[]).sort((a, b) => (a < b ? -1 : 1));
}

/** Undefined for a text that is no reason, as another operator may have written it. */
export function reasonOf(reason: string): Reason | undefined {
  return Object.hasOwn(registry, reason) ? registry[reason] : undefined;
}

export function remedyOf(reason: RemediedReason): string {
  return waitRegistry[reason].remedy;
}
