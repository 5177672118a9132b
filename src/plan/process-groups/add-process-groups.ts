// Step addProcessGroups: gives every class as many process groups as it should have. New ids are random, so
// that an id is never used again by accident. Rules: spec/plan.md [P40]-[P42], [P99], spec/halls.md [HALL8],
// spec/adoption.md [ADO7].
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { randomInteger, seededRandom } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { plannedGroupsMaximum } from "../../model/limits.ts";
import { isStateful } from "../../model/process-class.ts";
import {
  instanceLocality,
  makeProcessGroupId,
  maximumIdNumber,
  parseProcessGroupId,
} from "../../model/process-group-id.ts";
import {
  compareProcessGroups,
  isMarkedForRemoval,
  newProcessGroup,
} from "../../model/process-group.ts";
import { hallsForNew, withChosenHalls } from "../placement/hall-placement.ts";
import { hallWaits } from "../placement/halls-offered.ts";
import { withDomains } from "../placement/packing-placement.ts";
import { isReserved } from "../view/reserved-ids.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";

export function addProcessGroups(snapshot: Snapshot, draft: Draft): StepResult {
  const present = new Map<string, number>();
  const leaving = new Map<string, number>();
  for (const group of draft.groups) {
    const counted = isMarkedForRemoval(group) ? leaving : present;
    counted.set(group.processClass, (counted.get(group.processClass) ?? 0) + 1);
  }
  const staying = [...present.values()].reduce((sum, count) => sum + count, 0);
  let draw: ReturnType<typeof idDrawer> | undefined;
  const known = withChosenHalls(snapshot, draft);
  const waits = hallWaits(snapshot, draft);
  const added: ProcessGroup[] = [];
  const events: PlanEvent[] = [];
  for (const [processClass, desired] of Object.entries(draft.desired.counts)) {
    // Data that is brought back from its disks comes from them alone.
    if (isAdopting(snapshot.cluster) && isStateful(processClass)) continue;
    const room = plannedGroupsMaximum - staying - added.length;
    const missing = Math.min(room, desired - (present.get(processClass) ?? 0));
    if (missing <= 0) continue;
    const view = { groups: known, desired: draft.desired };
    const halls = hallsForNew(snapshot, view, processClass, missing);
    // Nothing is placed at random: the wait says which halls, or which zones of them, are missing. A database that exists
    // gets its processes back all the same.
    if (halls === undefined || (waits.length > 0 && draft.status.configured !== true)) continue;
    // Who decided on a replacement has told it; only growth is told here.
    if (missing > (leaving.get(processClass) ?? 0)) {
      const message = `Adding ${missing} ${processClass} process${missing === 1 ? "" : "es"}`;
      events.push({ type: "Normal", reason: "AddingProcesses", message });
    }
    for (const hall of halls) {
      // In most passes nobody is added.
      draw ??= idDrawer(snapshot, draft.groups);
      const id = draw(processClass);
      if (id === undefined) break;
      const group = newProcessGroup(id, processClass, snapshot.nowMs);
      added.push(hall === "" ? group : { ...group, hall });
    }
  }
  if (added.length === 0 && waits.length === 0 && known === draft.groups) return nothing;
  const placed = withDomains(draft.desired.cluster.spec, known, added);
  return { groups: [...known, ...placed].sort(compareProcessGroups), events, waits };
}

/**
 * Draws ids that nobody has, had in this status, or is named in an exclusion or removal. Where chance finds none in many
 * draws, the numbers are gone through in their order; undefined when all of a class are taken.
 */
function idDrawer(
  snapshot: Snapshot,
  groups: readonly ProcessGroup[],
): (processClass: string) => string | undefined {
  const { spec } = snapshot.cluster;
  const random = seededRandom(snapshot.seed);
  const usedIds = new Set<string>([
    ...(spec.processGroupsToRemove ?? []),
    ...(spec.processGroupsToRemoveWithoutExclusion ?? []),
    ...(spec.fence ?? []),
    ...groups.map((group) => group.processGroupID),
  ]);
  const usedNumbers = new Set(
    groups.map((group) => {
      const parts = parseProcessGroupId(group.processGroupID);
      return `${group.processClass}/${parts?.number ?? ""}`;
    }),
  );
  const excluded = excludedLocalities(snapshot);
  const take = (processClass: string, number: number): string | undefined => {
    const id = makeProcessGroupId(spec.processGroupIDPrefix ?? "", processClass, number);
    const key = `${processClass}/${number}`;
    if (usedIds.has(id) || usedNumbers.has(key) || excluded.has(instanceLocality(id))) return;
    if (isReserved(snapshot, id, processClass)) return;
    usedIds.add(id);
    usedNumbers.add(key);
    return id;
  };
  return (processClass) => {
    for (let draws = 0; draws < drawsMaximum; draws += 1) {
      const id = take(processClass, drawNumber(random));
      if (id !== undefined) return id;
    }
    for (let number = 1; number <= maximumIdNumber; number += 1) {
      const id = take(processClass, number);
      if (id !== undefined) return id;
    }
    return undefined;
  };
}

/** With half of all numbers taken, one in a million million draws would need more. */
const drawsMaximum = 40;

function drawNumber(random: Random): number {
  return randomInteger(random, 1, maximumIdNumber);
}

function excludedLocalities(snapshot: Snapshot): Set<string> {
  const servers = databaseStatus(snapshot)?.cluster?.configuration?.excluded_servers ?? [];
  return new Set(servers.flatMap((server) => server.locality ?? []));
}
