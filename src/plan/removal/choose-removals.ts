// Step chooseRemovals: where a class has more process groups than it should, the ones to go are chosen. Those that do
// not work go first, then those whose loss costs least; the rest stays spread over the fault domains.
// Rules: spec/removal.md [R20]-[R25].
import { append } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { chooseDistributed, choiceRules } from "../../model/coordinator-choice.ts";
import type { Candidate } from "../../model/coordinator-choice.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesByInstance } from "../../model/locality.ts";
import { processClasses } from "../../model/process-class.ts";
import { hallOf, isMarkedForRemoval, markForRemoval } from "../../model/process-group.ts";
import { shrinkByHall } from "../placement/hall-balance.ts";
import { shrinkOfDomains } from "../placement/packing-migration.ts";
import { cheapestFirst, removalCost } from "../view/removal-cost.ts";
import { statusProblemOf } from "../safety/act-evidence.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";

const step = "chooseRemovals";

export function chooseRemovals(snapshot: Snapshot, draft: Draft): StepResult {
  const surplus = surplusOf(draft);
  if (surplus.length === 0) return nothing;
  const status = databaseStatus(snapshot);
  const problem = statusProblemOf(snapshot);
  if (status === undefined || problem !== undefined) {
    const classes = surplus.map(({ processClass }) => processClass).join(", ");
    const message = `There are more process groups than wanted (${classes}), but ${problem}`;
    const reason = "ShrinkPending";
    return { waits: [{ step, reason, message, retryAfterMs: 2_000, isForDatabase: true }] };
  }
  const leaving = new Set<string>();
  const events: PlanEvent[] = [];
  for (const { processClass, groups, desired } of surplus) {
    const kept = keepersOfClass(processClass, groups, desired, draft, status);
    const chosen = groups.filter((group) => !kept.has(group.processGroupID));
    for (const group of chosen) leaving.add(group.processGroupID);
    const count = `${chosen.length} ${processClass} process${chosen.length === 1 ? "" : "es"}`;
    const ids = chosen.map((group) => group.processGroupID).join(", ");
    const message = `Removing ${count}: ${ids}`;
    events.push({ type: "Normal", reason: "ShrinkingProcesses", message });
  }
  const groups = draft.groups.map((group) =>
    leaving.has(group.processGroupID) ? markForRemoval(group, snapshot.nowMs) : group,
  );
  return { groups, events };
}

interface Surplus {
  processClass: string;
  /** Not marked for removal. */
  groups: readonly ProcessGroup[];
  desired: number;
}

function surplusOf(draft: Draft): Surplus[] {
  const found: Surplus[] = [];
  const staying = draft.groups.filter((group) => !isMarkedForRemoval(group));
  const byClass = Map.groupBy(staying, (group) => group.processClass);
  for (const processClass of processClasses) {
    const groups = byClass.get(processClass) ?? [];
    const desired = draft.desired.counts[processClass] ?? 0;
    if (groups.length > desired) found.push({ processClass, groups, desired });
  }
  return found;
}

/** With halls each keeps its share: the most overfull hall gives first. */
function keepersOfClass(
  processClass: string,
  groups: readonly ProcessGroup[],
  desired: number,
  draft: Draft,
  status: DatabaseStatus,
): ReadonlySet<string> {
  const taken = shrinkByHall(draft, processClass, groups.length - desired);
  if (taken === undefined) return keepers(groups, desired, draft, status);
  const kept = [...new Set(groups.map(hallOf))].flatMap((hall) => {
    const members = groups.filter((group) => hallOf(group) === hall);
    return [...keepers(members, members.length - (taken.get(hall) ?? 0), draft, status)];
  });
  return new Set(kept);
}

interface Member extends Candidate {
  tier: number;
}

/** The ids of the process groups that stay: the healthiest, spread as far as they can be. */
function keepers(
  groups: readonly ProcessGroup[],
  desired: number,
  draft: Draft,
  status: DatabaseStatus,
): ReadonlySet<string> {
  const { spec } = draft.desired.cluster;
  const leaving = shrinkOfDomains(spec, cheapestFirst(draft.desired, groups, status), desired);
  if (leaving !== undefined) {
    const ids = new Set(groups.map((group) => group.processGroupID));
    for (const group of leaving) ids.delete(group.processGroupID);
    return ids;
  }
  const processes = processesByInstance(draft.desired, status);
  const members = groups.map((group) => memberOf(group, processes.get(group.processGroupID) ?? []));
  const kept: Member[] = [];
  for (const tier of [...new Set(members.map((member) => member.tier))].sort((a, b) => a - b)) {
    const wanted = desired - kept.length;
    if (wanted <= 0) break;
    const candidates = members
      .filter((member) => member.tier === tier)
      .map((member) => ({ ...member, priority: (member.priority ?? 0) - shared(member, kept) }));
    const rules = choiceRules(draft.desired.configuration, wanted, {});
    append(kept, chooseDistributed(candidates, rules).chosen);
  }
  return new Set(kept.map((member) => member.id));
}

/** Weighs more than anything that a priority says: zones that are in use already come last. */
function shared(member: Member, kept: readonly Member[]): number {
  const zone = member.localities[localityKeys.zone];
  return 100 * kept.filter((other) => other.localities[localityKeys.zone] === zone).length;
}

function memberOf(group: ProcessGroup, processes: readonly StatusProcess[]): Member {
  const [first] = processes;
  const localities: Record<string, string> = {};
  for (const key of [localityKeys.zone, localityKeys.dataCenter, localityKeys.dataHall]) {
    if (first !== undefined) localities[key] = localityOf(first, key);
  }
  return {
    id: group.processGroupID,
    ...removalCost(group, processes),
    localities: { ...localities, ...(first === undefined ? zoneOf(group) : {}) },
  };
}

function zoneOf(group: ProcessGroup): Record<string, string> {
  return group.faultDomain === undefined ? {} : { [localityKeys.zone]: group.faultDomain };
}
