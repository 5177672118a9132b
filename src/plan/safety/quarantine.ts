// Whether a volume in quarantine may be deleted: its time is over by the clock of the API server, and its note proves that it
// is the one whose process group the database let go. Rules: spec/quarantine.md [QUA4]-[QUA7], [QUA9], spec/safety.md [S162].
import { automationOf } from "../../api/effective.ts";
import { quarantineNoteOf } from "../../build/quarantine.ts";
import type { QuarantineNote } from "../../build/quarantine.ts";
import type { Remembering } from "../../env/memory.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { Snapshot } from "../snapshot.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { isFullyRecovered } from "./evidence.ts";
import { faultToleranceProblem } from "./fault-tolerance.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { unnoticedLossProblem } from "./unnoticed-loss.ts";
import type { SafetyView } from "./view.ts";

type Claim = Stored<PersistentVolumeClaim>;
type QuarantineView = Pick<Snapshot, "cluster" | "quarantineUsers"> & Partial<Remembering>;

/** A note is long, and several steps look at each in every pass. */
export function noteOf({ memory }: Partial<Remembering>, claim: Claim): QuarantineNote | undefined {
  return memory === undefined ? quarantineNoteOf(claim) : memory.once(quarantineNoteOf, claim);
}

/** Why nothing tells that a claim was set aside by this resource, as a clause: then it is not given back to it either. */
export function strangeNote(view: QuarantineView, claim: Claim): string | undefined {
  const note = noteOf(view, claim);
  if (note === undefined) return "its note cannot be read";
  if (note.claim !== claim.metadata.uid) return "its note is of another claim";
  if (note.volume !== claim.spec?.volumeName) return "its note is of another volume";
  if (note.cluster === view.cluster.metadata.uid) return undefined;
  return "it was taken from another resource of this name";
}

/** What keeps a claim for good, as a clause; undefined when its note proves that it may go after its time. */
export function keptBecause(view: QuarantineView, claim: Claim): string | undefined {
  const { ownerReferences = [] } = claim.metadata;
  const strange = strangeNote(view, claim);
  if (strange !== undefined) return strange;
  const note = noteOf(view, claim);
  if (note?.proof !== "certificate") {
    return "its process group was removed without proof that its data is elsewhere";
  }
  if (ownerReferences.length > 0) return "somebody gave it an owner";
  const user = view.quarantineUsers?.get(claim.metadata.name ?? "");
  return user === undefined ? undefined : `pod ${user} uses it`;
}

/** When its time is over: by our own clock where the difference of the two is given, else by that of the API server. */
export function quarantineEndMs(
  view: Pick<Snapshot, "cluster" | "serverAheadMs">,
  note: QuarantineNote,
): number {
  const { volumeQuarantineMs } = automationOf(view.cluster.spec);
  const sinceMs = ownTimeMs(view, note.since) ?? Infinity;
  return sinceMs + Math.max(note.seconds * 1000, volumeQuarantineMs);
}

/** Whether its time is over, as far as it has one. */
export function isQuarantineOver(
  view: Pick<Snapshot, "cluster" | "nowMs" | "serverAheadMs"> & Partial<Remembering>,
  claim: Claim,
): boolean {
  const note = noteOf(view, claim);
  return note !== undefined && quarantineEndMs(view, note) <= view.nowMs;
}

/** Why the claims may not be deleted now. */
export function quarantineRefusal(
  view: SafetyView,
  status: DatabaseStatus,
  names: readonly string[],
): Refusal | undefined {
  for (const name of names) {
    const claim = view.quarantined?.get(name);
    if (claim === undefined) return refusal("EvidenceStale", `${name} is not in quarantine`);
    const kept = keptBecause(view, claim);
    if (kept !== undefined) return refusal("CertificateMissing", `${name} is kept: ${kept}`);
    if (!isQuarantineOver(view, claim)) {
      return refusal("EvidenceStale", `the time of ${name} is not over`);
    }
  }
  if (!isFullyRecovered(status)) {
    return refusal("StatusIncomplete", "the database has not fully recovered");
  }
  const mode = status.cluster?.configuration?.redundancy_mode;
  const problem = faultToleranceProblem(status, mode) ?? unnoticedLossProblem(view);
  return problem === undefined ? undefined : refusal("BudgetExhausted", problem);
}
