// What only a question to the database can tell. A step that needs such knowledge asks for it; the question is answered
// in the background, and a later pass finds the answer, with its time, in the snapshot. Rules: spec/safety.md [S1]-[S8].
import type { LockValue } from "../fdb/keys.ts";
import type { CoordinationKnowledge } from "./view/shared-sets.ts";

export type DatabaseQuestion =
  /** The management keys: what is excluded, and which of it still holds state. */
  | { type: "exclusions" }
  /** A waiting `exclude`, which must return complete. */
  | { type: "verifyExclusion"; processGroupId: string; targets: readonly string[] }
  | { type: "denyList" }
  /** Process groups that were announced for an upgrade, to this version or to any. */
  | { type: "pendingUpgrades"; version?: string }
  | { type: "maintenanceList" }
  | { type: "lock" }
  /** The coordination sets of all instances. */
  | { type: "coordination" }
  /** Which version runs, while nobody answers a client of the version that is taken for it; these are tried first. */
  | { type: "reachableVersion"; versions: readonly string[] };

export interface ConfirmedExclusion {
  readonly targets: readonly string[];
  /** When the waiting exclusion was asked for. */
  readonly completedMs: number;
}

/** A waiting exclusion that was asked for longer ago than this says nothing any more. */
export const verificationMaximumAgeMs = 300_000;

/** Every answer carries the time at which its question was asked. A field is absent until it has been answered. */
export interface DatabaseKnowledge {
  readonly exclusions?: {
    readonly excluded: readonly string[];
    readonly inProgress: readonly string[];
    readonly observedMs: number;
  };
  /** By process group. */
  readonly verified: ReadonlyMap<string, ConfirmedExclusion>;
  readonly denyList?: { readonly ids: readonly string[]; readonly observedMs: number };
  /** `sinceMs` is since when every look has found just these. */
  readonly pendingUpgrades?: {
    readonly version: string | undefined;
    readonly ids: readonly string[];
    readonly sinceMs: number;
    readonly observedMs: number;
  };
  /** Process groups under maintenance, with the unix second at which their entry was made, on our own clock. */
  readonly maintenanceList?: {
    readonly entries: ReadonlyMap<string, number>;
    readonly observedMs: number;
  };
  /** The lock of the database, whoever holds it. */
  readonly lock?: { readonly stored: LockValue | undefined; readonly observedMs: number };
  readonly coordination?: CoordinationKnowledge;
  readonly reachableVersion?: { readonly version: string; readonly observedMs: number };
}

export const nothingKnown: DatabaseKnowledge = { verified: new Map() };

/** Questions with the same key are the same question. */
export function questionKey(question: DatabaseQuestion): string {
  switch (question.type) {
    case "verifyExclusion":
      return `verifyExclusion/${question.processGroupId}/${[...question.targets].sort().join(",")}`;
    case "pendingUpgrades":
      return `pendingUpgrades/${question.version ?? ""}`;
    case "reachableVersion":
      return `reachableVersion/${question.versions.join(",")}`;
    default:
      return question.type;
  }
}

export function distinctQuestions(questions: readonly DatabaseQuestion[]): DatabaseQuestion[] {
  const found = new Map<string, DatabaseQuestion>();
  for (const question of questions) {
    const key = questionKey(question);
    if (!found.has(key)) found.set(key, question);
  }
  return [...found.values()];
}
