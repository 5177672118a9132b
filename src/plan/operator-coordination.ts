// Step operatorCoordination: in global mode the other instances learn what this one wants to remove, exclude, include and
// restart, and what is left over of it is taken back. In local mode it reads and writes nothing.
// Rules: spec/coordination.md [CO1]-[CO14].
import { automationOf } from "../api/effective.ts";
import { isTest } from "../model/process-class.ts";
import { hasCondition, isExcluded, isMarkedForRemoval } from "../model/process-group.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { bounceTargets } from "./bounce-targets.ts";
import { statusProblemOf } from "./safety/act-evidence.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  ownExclusions,
  usesLocalities,
} from "./removal-targets.ts";
import { isJumping } from "./running-version.ts";
import { isConvertingTls } from "./tls-switch.ts";
import { isEmptyUpdate, membershipUpdates, strayEntries } from "./set-membership.ts";
import type { Member } from "./set-membership.ts";
import { foreignWait } from "./shared-waits.ts";
import { coordinationOf, foreignEntries, isGlobal, ownPrefixOf } from "./shared-sets.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { Draft, StepResult } from "./step.ts";

const step = "operatorCoordination";

export function planCoordination(snapshot: Snapshot, draft: Draft): StepResult {
  if (!isGlobal(snapshot, draft.status)) return nothing;
  const questions = [{ type: "coordination" as const }];
  const known = coordinationOf(snapshot);
  const status = databaseStatus(snapshot);
  // An old or partial status would take back what is true.
  if (known === undefined || status === undefined || statusProblemOf(snapshot) !== undefined) {
    return { questions };
  }
  const ownPrefix = ownPrefixOf(snapshot);
  const foreign = foreignEntries(known.sets, ownPrefix);
  const waits = foreign.length === 0 ? [] : [foreignWait(step, foreign)];
  const ids = new Set(draft.groups.map((group) => group.processGroupID));
  const strays = strayEntries(ids, known.sets, ownPrefix);
  if (strays.length > 0) {
    return {
      questions,
      waits,
      actions: [{ type: "migrateCoordination", step, entries: strays, prefix: ownPrefix }],
    };
  }
  const updates = membershipUpdates(membersOf(snapshot, draft, status), known.sets, ownPrefix);
  if (isEmptyUpdate(updates)) return { questions, waits };
  return { questions, waits, actions: [{ type: "updateCoordination", step, updates }] };
}

/** Testers take part in nothing. */
function membersOf(snapshot: Snapshot, draft: Draft, status: DatabaseStatus): readonly Member[] {
  const { spec } = snapshot.cluster;
  const exclusions = exclusionsOf(status);
  const byLocality = usesLocalities(draft.desired.cluster.spec, draft.status.runningVersion ?? "");
  const isWhollyListed = (group: ProcessGroup): boolean =>
    !isUnnameable(group, byLocality) && missingTargets(exclusions, group, byLocality).length === 0;
  // In an upgrade in which all change at once everybody restarts anyway.
  const isRestarting = !isJumping(draft) && automationOf(spec).killProcesses;
  const { ignored, stubborn } = bounceTargets(snapshot, draft, status);
  const left = new Set([...ignored, ...stubborn]);
  return draft.groups
    .filter(({ processClass }) => !isTest(processClass))
    .map((group) => ({
      processGroupId: group.processGroupID,
      isMarked: isMarkedForRemoval(group),
      isExclusionSkipped: group.exclusionSkipped === true,
      isExcluded: isExcluded(group) || isWhollyListed(group),
      isListed: ownExclusions(exclusions, group).length > 0,
      needsRestart: isRestarting && !left.has(group.processGroupID) && hasWrongCommandLine(group),
      canRestart:
        !hasCondition(group, "IncorrectConfigMap") &&
        (isConvertingTls(draft) || !hasCondition(group, "IncorrectPodSpec")),
    }));
}

/** One whose process or sidecar nobody reaches gets its command line when it comes back. */
function hasWrongCommandLine(group: ProcessGroup): boolean {
  return (
    hasCondition(group, "IncorrectCommandLine") &&
    !hasCondition(group, "SidecarUnreachable") &&
    !hasCondition(group, "MissingProcesses")
  );
}
