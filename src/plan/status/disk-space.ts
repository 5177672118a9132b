// Disks that are nearly full stop the movement of data, and with it exclusions, replacements and changes of
// redundancy: FoundationDB moves nothing to a server with less than a twentieth of its disk free.
// Rules: spec/explain.md [E48].
import type { StatusProcess } from "../../model/database-status.ts";
import { processesOf } from "../../model/locality.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const freeRatioMin = 0.05;

export function diskWaits(snapshot: Snapshot): NewWait[] {
  const status = databaseStatus(snapshot);
  const full = status === undefined ? [] : fullDisks(snapshot.memory.once(processesOf, status));
  if (full.length === 0) return [];
  return [
    {
      step: "updateStatus",
      reason: "DiskSpaceLow",
      message: `Disks are nearly full, so that the database moves no data to them: ${nameList(full)}`,
      retryAfterMs: 60_000,
      isForDatabase: true,
    },
  ];
}

/** Names and free shares of the storage processes without room. */
function fullDisks(processes: readonly StatusProcess[]): string[] {
  return processes
    .filter((process) => process.class_type === "storage" && !process.excluded)
    .flatMap((process) => {
      const ratio = freeRatio(process);
      if (ratio === undefined || ratio >= freeRatioMin) return [];
      return [`${nameOf(process)} (${Math.floor(ratio * 100)}% free)`];
    })
    .toSorted();
}

function freeRatio({ disk }: StatusProcess): number | undefined {
  const { free_bytes: free, total_bytes: total } = disk ?? {};
  return free === undefined || total === undefined || total === 0 ? undefined : free / total;
}

function nameOf(process: StatusProcess): string {
  return process.locality?.["instance_id"] ?? process.address ?? "a process";
}
