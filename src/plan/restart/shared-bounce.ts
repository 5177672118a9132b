// Restarts in global mode: one kill for the processes of all instances that run with an old command line, when every one
// of them that lives has its new configuration. Rules: spec/coordination.md [CO25], [CO41]-[CO45], [CO71].
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import type { DisruptiveAction } from "../action.ts";
import { lateEntries, withoutLate } from "../coordination/shared-entries.ts";
import { isTelling } from "../coordination/set-membership.ts";
import { apartWait } from "../coordination/set-presence.ts";
import { coordinationOf, ownPrefixOf } from "../view/shared-sets.ts";
import type { Matter } from "../view/shared-sets.ts";
import { sharedVerdict } from "../coordination/shared-verdict.ts";
import { readingWait, verdictWaits } from "../coordination/shared-waits.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import type { NewWait } from "../wait.ts";

export type SharedRestart =
  | { readonly waits: readonly NewWait[] }
  | {
      /** Those of all instances. */
      readonly processes: readonly StatusProcess[];
      /** Absent when it is an act of this instance alone. */
      readonly together?: NonNullable<DisruptiveAction["together"]>;
    };

const step = "bounceProcesses";
const restart: Matter = { purpose: "restart", scope: "all" };

/** `ids` are the process groups of this instance that have to be restarted. */
export function sharedRestart(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  ids: readonly string[],
): SharedRestart {
  const known = coordinationOf(snapshot);
  if (known === undefined) return { waits: [readingWait(step, ids)] };
  const ownPrefix = ownPrefixOf(snapshot);
  if (apartWait(snapshot, draft.groups) !== undefined) return { waits: [] };
  const observedMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
  const late = lateEntries(snapshot, known, status, observedMs, ownPrefix);
  const inTime = { ...known, sets: withoutLate(known.sets, late) };
  const verdict = sharedVerdict(snapshot, restart, inTime, status, ownPrefix, snapshot.options);
  if (verdict.kind !== "agreed") {
    return { waits: verdictWaits(step, restart, verdict, known, ownPrefix, ids) };
  }
  if (isTelling(draft)) return { waits: [readingWait(step, ids)] };
  const { entries, isOverdue } = verdict;
  const chosen = new Set(entries.map(({ processGroupId }) => processGroupId));
  const unreachable = unreachableAddresses(status);
  const processes = processesOf(status).filter(
    (process) =>
      chosen.has(localityOf(process, localityKeys.instance)) &&
      process.address !== undefined &&
      !unreachable.has(process.address),
  );
  const commandLines = Object.fromEntries(
    processes.map((process) => [process.address ?? "", process.command_line ?? ""]),
  );
  const together = {
    ...{ prefix: ownPrefix, matters: [restart], entries, isOverdue, commandLines },
    late: [...late].sort(),
  };
  return { processes, together };
}
