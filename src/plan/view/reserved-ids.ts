// Ids that no new process group may get: the volume of one that was removed waits in quarantine under the name that its
// claim would have. Rules: spec/quarantine.md [QUA3].
import { quarantineNoteOf } from "../../build/quarantine.ts";
import type { Snapshot } from "../snapshot.ts";
import { namesOfGroup } from "./group-names.ts";

export function isReserved(
  view: Pick<Snapshot, "cluster" | "quarantined">,
  processGroupID: string,
  processClass: string,
): boolean {
  const { quarantined } = view;
  if (quarantined === undefined || quarantined.size === 0) return false;
  if (quarantined.has(namesOfGroup(view, processGroupID, processClass).claimName)) return true;
  return [...quarantined.values()].some(
    (claim) => quarantineNoteOf(claim)?.processGroupID === processGroupID,
  );
}
