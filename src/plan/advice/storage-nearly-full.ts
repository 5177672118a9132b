// Storage servers whose disks fill: told well before the database stops to move data to them. The share is told in steps, and
// who was told of stays until there is clearly room again, so that a disk at the edge is not told of at every look.
// Rules: spec/advice.md [ADV3].
import { adviceGroupsMaximum } from "../../api/advice.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { leastOf } from "../../env/long-lists.ts";
import { nameList } from "../wait.ts";
import { adviceOf, groupIdOf } from "./subject.ts";
import type { AdviceSubject, Judgement } from "./subject.ts";

const nearlyFullPercent = 20;
const roomyPercent = 25;
const stepPercent = 5;
/** By so much a share has to leave its step before another one is told. */
const slackPercent = 1;

export function storageNearlyFull({ own, before }: AdviceSubject): Judgement {
  const storage = own.filter((process) => process.class_type === "storage");
  const known = storage.flatMap((process) => {
    const percent = freePercent(process);
    return percent === undefined ? [] : [{ id: groupIdOf(process), percent }];
  });
  if (storage.length === 0) return "nothing";
  if (known.length === 0) return "unknown";
  const told = new Set(before?.processGroups);
  const full = known.filter(
    ({ id, percent }) => percent < (told.has(id) ? roomyPercent : nearlyFullPercent),
  );
  if (full.length === 0) return "nothing";
  const least = leastOf(full.map(({ percent }) => percent));
  const figure = stepOf(least, before?.figure);
  const all = [...new Set(full.map(({ id }) => id))].sort();
  // No more than are remembered: how many there are besides would change with every look.
  const ids = [...all.filter((id) => told.has(id)), ...all.filter((id) => !told.has(id))]
    .slice(0, adviceGroupsMaximum)
    .sort();
  const many = ids.length === adviceGroupsMaximum ? "at least " : "";
  return adviceOf(
    "StorageNearlyFull",
    {
      message:
        `Disks of storage servers fill up: ${many}${nameList(ids)}, of ${new Set(storage.map(groupIdOf)).size} storage process groups. ` +
        `The fullest has ${figure} to ${figure + stepPercent}% free; with less than 5% the database moves no data to it`,
      remedy:
        "Raise spec.processCounts.storage, or resources.requests.storage in the volume claim template, or delete data.",
      figure,
    },
    ids,
  );
}

function freePercent({ disk }: StatusProcess): number | undefined {
  const { free_bytes: free, total_bytes: total } = disk ?? {};
  if (free === undefined || total === undefined || !(total > 0)) return undefined;
  return (100 * Math.max(0, free)) / total;
}

/** The lower end of the step that a share lies in; that of before while it is near enough to it. */
function stepOf(percent: number, before: number | undefined): number {
  const isNear =
    before !== undefined &&
    percent >= before - slackPercent &&
    percent < before + stepPercent + slackPercent;
  return isNear ? before : Math.floor(percent / stepPercent) * stepPercent;
}
