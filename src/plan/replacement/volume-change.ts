// A changed volume claim template replaces every process group whose volume was made from the old one, and moves all of
// its data. That is more than a person expects who only wants larger disks, so it is announced a minute before, while it can
// still be taken back. Rules: spec/removal.md [R99].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { formatTime } from "../../kube/time.ts";
import { conditionOf } from "../../model/process-group.ts";
import { refusedGrowth } from "../volumes/size-change.ts";
import { hasOtherClaimSpec } from "./misconfiguration.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const noticeMs = 60_000;
const step = "replaceMisconfiguredProcessGroups";
const reason = "VolumeChangeAnnounced";

/** When the group may be replaced for its volume; undefined when that is not what it is replaced for, or it may be now. */
function dueMs(snapshot: Snapshot, draft: Draft, group: ProcessGroup): number | undefined {
  if (!hasOtherClaimSpec(snapshot, draft.desired, group)) return undefined;
  // A claim of another specification counts as missing, and the condition tells since when.
  const sinceSeconds = conditionOf(group, "MissingPVC")?.timestamp;
  if (sinceSeconds === undefined) return undefined;
  const due = sinceSeconds * 1000 + noticeMs;
  return due > snapshot.nowMs ? due : undefined;
}

export interface Announcement {
  /** The process groups that are not replaced yet. */
  readonly held: ReadonlySet<string>;
  readonly waits: readonly NewWait[];
}

export function announceVolumeChange(
  snapshot: Snapshot,
  draft: Draft,
  groups: readonly ProcessGroup[],
): Announcement {
  const ids: string[] = [];
  let latest = 0;
  for (const group of groups) {
    const due = dueMs(snapshot, draft, group);
    if (due === undefined) continue;
    ids.push(group.processGroupID);
    latest = Math.max(latest, due);
  }
  if (ids.length === 0) return { held: new Set(), waits: [] };
  const isUnable = snapshot.memory.once(refusedGrowth, snapshot).unable.size > 0;
  return { held: new Set(ids), waits: [announcement(ids, latest, snapshot.nowMs, isUnable)] };
}

function announcement(
  ids: readonly string[],
  dueAtMs: number,
  nowMs: number,
  isUnable: boolean,
): NewWait {
  const message =
    `volumeClaimTemplate has changed${isUnable ? ", and volumes of this storage class cannot be made larger in place" : ""}. From ${formatTime(dueAtMs)} on, ${ids.length} process ` +
    `${ids.length === 1 ? "group is" : "groups are"} replaced, and all data of them moves to new volumes: ${nameList(ids)}`;
  return {
    step,
    reason,
    message,
    event: { type: "Warning", reason, message },
    retryAfterMs: dueAtMs - nowMs,
  };
}
