// Volumes of removed process groups that are set aside for a while: whose claims go there, and what
// the status tells of them. Rules: spec/quarantine.md [QUA1], [QUA4], [QUA8].
import { quarantineListMaximum } from "../../api/cluster-status.ts";
import type { ProcessGroupStatus as ProcessGroup, QuarantineEntry } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import type { ObjectBasis, RemovalOrder } from "../action.ts";
import {
  isQuarantineOver,
  keptBecause,
  noteOf,
  quarantineEndMs,
  strangeNote,
} from "../safety/quarantine.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

type Claim = Stored<PersistentVolumeClaim>;

/** Undefined when the claim is deleted with its process group: so it was asked for, or there is no volume to keep. */
export function quarantineFor(
  { cluster, pvcs }: Snapshot,
  { processClass }: ProcessGroup,
  { name }: ObjectBasis,
): RemovalOrder["quarantine"] {
  const { volumeQuarantineMs } = automationOf(cluster.spec);
  const hasVolume = (pvcs.get(name)?.spec?.volumeName ?? "") !== "";
  if (volumeQuarantineMs === 0 || !hasVolume) return undefined;
  return { seconds: volumeQuarantineMs / 1000, processClass };
}

export function quarantineWait(step: string, { processGroupID: id }: ProcessGroup): NewWait {
  return {
    step,
    reason: "VolumeInQuarantine",
    message: `${id} has the id of a process group whose volume waits in quarantine, so no pod is started for it`,
    retryAfterMs: 60_000,
  };
}

/** Absent when nothing waits. */
export function quarantineStatus(snapshot: Snapshot): { quarantine?: readonly QuarantineEntry[] } {
  const { quarantined } = snapshot;
  if (quarantined === undefined || quarantined.size === 0) return {};
  const entries = [...quarantined.values()].map((claim) => entryOf(snapshot, claim));
  const last = "9999";
  entries.sort((left, right) => {
    const [one, other] = [left, right].map(({ until = last, volumeClaim }) => until + volumeClaim);
    return (one ?? "") < (other ?? "") ? -1 : 1;
  });
  return { quarantine: entries.slice(0, quarantineListMaximum) };
}

function entryOf(
  snapshot: Pick<Snapshot, "cluster" | "quarantineUsers" | "memory">,
  claim: Claim,
): QuarantineEntry {
  const { cluster } = snapshot;
  const volumeClaim = claim.metadata.name ?? "";
  const note = noteOf(snapshot, claim);
  const kept = keptBecause(snapshot, claim);
  return {
    volumeClaim,
    ...(note && {
      processGroupID: note.processGroupID,
      processClass: note.processClass,
      since: note.since,
    }),
    ...(note && kept === undefined && { until: formatTime(quarantineEndMs({ cluster }, note)) }),
    ...(kept !== undefined && { kept }),
  };
}

/** Those whose time is over, or that have none, and that a person has to look at. */
export function quarantineWarnings(snapshot: Snapshot): PlanWarning[] {
  const kept = [...(snapshot.quarantined?.values() ?? [])].flatMap((claim) => {
    const isDue = noteOf(snapshot, claim) === undefined || isQuarantineOver(snapshot, claim);
    const why = isDue ? keptBecause(snapshot, claim) : undefined;
    return why === undefined ? [] : [{ claim, text: `${claim.metadata.name ?? ""} (${why})` }];
  });
  if (kept.length === 0) return [];
  const texts = kept.map(({ text }) => text);
  const strange = kept.filter(({ claim }) => strangeNote(snapshot, claim) !== undefined);
  const names = nameList(strange.map(({ claim }) => claim.metadata.name ?? ""));
  const isAnyOwn = strange.length < kept.length;
  const parts = [
    `Volume claims in quarantine that are not deleted by themselves: ${nameList(texts)}. `,
    isAnyOwn ? "Give them back with kubectl fdb quarantine restore, or delete them yourself. " : "",
    strange.length === 0
      ? ""
      : `${isAnyOwn ? `That command does not take ${names}` : "None of them can be given back to this resource"}: copy what you need from the volumes, and delete the claims yourself.`,
  ];
  return [{ reason: "QuarantineKept", message: parts.join("").trimEnd() }];
}
