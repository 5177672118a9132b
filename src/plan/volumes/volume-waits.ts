// What is said about volumes that are about to be lost, or are: in blockedBy and in the condition Degraded, as long as the
// data has not been proven to be elsewhere. Rules: spec/safety.md [S101], [S105].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { claimStateText, volumeProblem } from "../safety/volumes.ts";
import type { VolumeProblem, VolumeView } from "../safety/volumes.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "replaceMisconfiguredProcessGroups";

/** At most one of each kind; what is lost comes before what is about to be. */
export function volumeWaits(view: VolumeView, groups: readonly ProcessGroup[]): NewWait[] {
  const found = groups.flatMap((group) => {
    const problem = volumeProblem(view, group);
    return problem === undefined ? [] : [{ id: group.processGroupID, problem }];
  });
  const lost = found.filter(({ problem }) => problem.kind === "lost");
  const atRisk = found.filter(({ problem }) => problem.kind === "atRisk");
  return [
    ...(lost.length === 0 ? [] : [lostWait(lost)]),
    ...(atRisk.length === 0 ? [] : [riskWait(atRisk)]),
  ];
}

type Found = readonly { id: string; problem: VolumeProblem }[];

function lostWait(found: Found): NewWait {
  const message =
    `${claimsText(found)}: a copy of data is lost, and the database has not confirmed yet that all of it is elsewhere. ` +
    `To be replaced: ${idsOf(found)}`;
  return {
    step,
    reason: "VolumeLost",
    message,
    retryAfterMs: 15_000,
    isForDatabase: true,
  };
}

function riskWait(found: Found): NewWait {
  const whose =
    found.length === 1
      ? "its data is lost when its pod ends"
      : "their data is lost when their pods end";
  const message = `${claimsText(found)}: ${whose}. To be replaced, while the data is still there: ${idsOf(found)}`;
  return {
    step,
    reason: "VolumeAtRisk",
    message,
    retryAfterMs: 15_000,
    remedy:
      "Delete none of these pods and drain none of their nodes until the data has moved, and let there be room for as many new pods. " +
      "The deletion of a claim cannot be taken back.",
    isForDatabase: true,
  };
}

function claimsText(found: Found): string {
  const names = found.map(({ problem }) => problem.claimName);
  const states = new Set(found.map(({ problem }) => problem.state));
  const texts = [...states].map((state) => claimStateText(state, names.length));
  const subject = names.length === 1 ? "The volume claim" : "The volume claims";
  return `${subject} ${nameList(names)} ${texts.join(" or ")}`;
}

function idsOf(found: Found): string {
  return nameList(found.map(({ id }) => id));
}
