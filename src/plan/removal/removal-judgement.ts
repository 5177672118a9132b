// Which process groups marked for removal may lose their objects: those proven to hold nothing, and those that skip the
// proof because somebody said so. For the others it says what is missing. Rules: spec/removal.md [R59]-[R66].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import type { DatabaseQuestion } from "../questions.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  ownExclusions,
  usesLocalities,
} from "../view/exclusion-targets.ts";
import { hasAbsentProcesses } from "../safety/certificate.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import type { RemediedReason } from "../reasons/registry.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

export interface Judgement {
  readonly removable: readonly ProcessGroup[];
  readonly waits: readonly NewWait[];
  readonly questions: readonly DatabaseQuestion[];
}

export function judgeRemoval(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  marked: readonly ProcessGroup[],
): Judgement {
  const exclusions = exclusionsOf(snapshot, status);
  const processes = processesByInstance(snapshot, status);
  const byLocality = usesLocalities(draft.desired.cluster.spec, draft.status.runningVersion ?? "");
  const removable: ProcessGroup[] = [];
  const questions: DatabaseQuestion[] = [];
  const held = new Map<string, { reason: RemediedReason; why: string; ids: string[] }>();
  const hold = (id: string, reason: RemediedReason, why: string): void => {
    const known = held.get(`${reason}/${why}`);
    if (known !== undefined) known.ids.push(id);
    else held.set(`${reason}/${why}`, { reason, why, ids: [id] });
  };
  for (const group of marked) {
    const id = group.processGroupID;
    const own = processes.get(id) ?? [];
    const isSkipped = group.exclusionSkipped === true;
    const isAsked = missingTargets(exclusions, group, byLocality).length === 0;
    // Who is not excluded yet is told by the step that excludes.
    if (!isSkipped && !isAsked && !isUnnameable(group, byLocality)) continue;
    if (isCoordinator(snapshot, status, group)) {
      hold(id, "RemovalPending", "it is a coordinator, and coordinators are changed first");
      continue;
    }
    if (isSkipped) {
      removable.push(group);
      continue;
    }
    const problem = snapshot.checks.certificate(snapshot, group);
    if (problem === undefined) {
      removable.push(group);
      continue;
    }
    const moving = movingText(own);
    if (moving === undefined) hold(id, "CertificateMissing", problem);
    else hold(id, "ExclusionRunning", moving);
    if (isAsked && hasAbsentProcesses(snapshot, group)) {
      const targets = ownExclusions(exclusions, group);
      questions.push({ type: "verifyExclusion", processGroupId: id, targets });
    }
  }
  const waits = [...held.values()].map(({ reason, why, ids }) =>
    removalWait(reason, ids, why, 5_000),
  );
  return { removable, waits, questions };
}

/** What the processes still do; undefined when they do nothing that takes time. */
function movingText(processes: readonly StatusProcess[]): string | undefined {
  const roles = new Set(
    processes.flatMap((process) => (process.roles ?? []).map((role) => role.role)),
  );
  if (roles.size === 0) return undefined;
  return `the database still has there: ${[...roles].sort().join(", ")}`;
}

/** The waits of the steps that remove process groups. Rules: spec/removal.md [R80]. */
export function removalWait(
  reason: RemediedReason,
  ids: readonly string[],
  why: string,
  retryAfterMs: number,
): NewWait {
  return {
    step: "removeProcessGroups",
    reason,
    message: `Not removed yet: ${nameList(ids)}; ${why}`,
    retryAfterMs,
    isForDatabase: true,
  };
}
