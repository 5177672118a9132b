// Step operatorCoordination: in global mode the other instances learn what this one wants to remove, exclude, include and
// restart, and what is left over of it is taken back. In local mode it reads and writes nothing, but for what it left.
// Rules: spec/coordination.md [CO1]-[CO14], [CO66], [CO67].
import type { DatabaseQuestion } from "../questions.ts";
import { automationOf } from "../../api/effective.ts";
import { isTest } from "../../model/process-class.ts";
import { hasCondition, isExcluded, isMarkedForRemoval } from "../../model/process-group.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { uptimeSecondsOf } from "../restart/bounce-safety.ts";
import { bounceTargets } from "../restart/bounce-targets.ts";
import { statusProblemOf } from "../safety/act-evidence.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  ownExclusions,
  usesLocalities,
} from "../view/exclusion-targets.ts";
import { preparedVersions } from "../safety/prepared-versions.ts";
import { isUpgradingIncompatibly } from "../view/running-version.ts";
import { isConvertingTls } from "../view/tls-switch.ts";
import { isEmptyUpdate, membershipUpdates, strayEntries } from "./set-membership.ts";
import type { Member } from "./set-membership.ts";
import { apartWait, withdrawal } from "./set-presence.ts";
import { coordinationStep as step, leavingWait } from "./shared-waits.ts";
import { coordinationOf, isGlobal, ownPrefixOf } from "../view/shared-sets.ts";
import { fencesNews } from "./shared-fences.ts";
import { windowsNews } from "./shared-windows.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";

const questions: readonly DatabaseQuestion[] = [{ type: "coordination" }];

export function operatorCoordination(snapshot: Snapshot, draft: Draft): StepResult {
  const { coordinationPrefix } = draft.status;
  if (isGlobal(snapshot, draft.status)) return planPart(snapshot, draft);
  return coordinationPrefix ? planLeaving(snapshot, draft, coordinationPrefix) : nothing;
}

/** Until nothing is left, the others wait for entries that nobody brings to an end. */
function planLeaving(snapshot: Snapshot, draft: Draft, prefix: string): StepResult {
  const leaving = { questions, waits: [leavingWait(prefix)], isUnfinished: true };
  const known = coordinationOf(snapshot);
  const status = databaseStatus(snapshot);
  if (known === undefined || status === undefined) return leaving;
  const updates = withdrawal(snapshot, known.sets, prefix, draft.groups, status);
  const news = newsOf(snapshot, draft, prefix, true);
  if (isEmptyUpdate(updates) && Object.keys(news).length === 0) {
    return { status: { coordinationPrefix: undefined } };
  }
  return { ...leaving, actions: [{ type: "updateCoordination", step, prefix, updates, ...news }] };
}

function planPart(snapshot: Snapshot, draft: Draft): StepResult {
  const known = coordinationOf(snapshot);
  const status = databaseStatus(snapshot);
  // An old or partial status would take back what is true.
  if (known === undefined || status === undefined || statusProblemOf(snapshot) !== undefined) {
    return { questions };
  }
  const prefix = ownPrefixOf(snapshot);
  const apart = apartWait(snapshot, draft.groups);
  const waits = apart === undefined ? [] : [apart];
  const ids = new Set(draft.groups.map((group) => group.processGroupID));
  const strays = strayEntries(ids, known.sets, prefix);
  if (strays.length > 0) {
    return {
      questions,
      waits,
      actions: [{ type: "migrateCoordination", step, entries: strays, prefix }],
    };
  }
  const updates =
    apart === undefined
      ? membershipUpdates(membersOf(snapshot, draft, status), known.sets, prefix)
      : withdrawal(snapshot, known.sets, prefix, draft.groups, status);
  const told = { questions, waits, status: { coordinationPrefix: prefix } };
  const news = newsOf(snapshot, draft, prefix, apart !== undefined);
  if (isEmptyUpdate(updates) && Object.keys(news).length === 0) return told;
  return { ...told, actions: [{ type: "updateCoordination", step, prefix, updates, ...news }] };
}

function newsOf(snapshot: Snapshot, draft: Draft, prefix: string, isLeaving: boolean) {
  return {
    ...windowsNews(snapshot, prefix, isLeaving),
    ...fencesNews(snapshot, draft, prefix, isLeaving),
  };
}

/** Testers take part in nothing. */
function membersOf(snapshot: Snapshot, draft: Draft, status: DatabaseStatus): readonly Member[] {
  const { spec } = snapshot.cluster;
  const exclusions = exclusionsOf(snapshot, status);
  const byLocality = usesLocalities(draft.desired.cluster.spec, draft.status.runningVersion ?? "");
  const isWhollyListed = (group: ProcessGroup): boolean =>
    !isUnnameable(group, byLocality) && missingTargets(exclusions, group, byLocality).length === 0;
  // In an upgrade in which all change at once everybody restarts anyway; in one that is taken back nobody may.
  const running = draft.status.runningVersion ?? spec.version;
  const isPrepared =
    isUpgradingIncompatibly(draft) || preparedVersions(snapshot, running).length > 0;
  const isRestarting = !isPrepared && automationOf(spec).killProcesses;
  const isCalm =
    uptimeSecondsOf(status, running) >= automationOf(spec).minimumUptimeSecondsForBounce;
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
        isCalm &&
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
