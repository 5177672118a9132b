// How far exclusions are: what is stored on processes that are excluded, and when they will be empty. Pure.
// Rules: spec/plugin.md [PL65].
import type { DatabaseStatus } from "../model/database-status.ts";

export interface Leaving {
  readonly id: string;
  readonly role: string;
  readonly storedBytes: number;
}

export interface Progress extends Leaving {
  /** When it was seen first. */
  readonly firstBytes: number;
  /** Undefined while it does not shrink. */
  readonly leftMs: number | undefined;
}

/** Processes that are excluded and still hold data, by id. */
export function leavingOf(status: DatabaseStatus, ignoreEmpty: boolean): Leaving[] {
  return Object.values(status.cluster?.processes ?? {})
    .filter(({ excluded }) => excluded === true)
    .flatMap((process) => {
      const id = process.locality?.["process_id"] ?? process.locality?.["instance_id"] ?? "";
      const roles = (process.roles ?? []).filter(
        ({ role }) => role === "storage" || role === "log",
      );
      return roles.map((role) => ({
        id,
        role: role.role,
        storedBytes: Number(role["stored_bytes"] ?? role["queue_disk_used_bytes"] ?? 0),
      }));
    })
    .filter(({ storedBytes }) => !ignoreEmpty || storedBytes > 0)
    .toSorted((left, right) => (`${left.id} ${left.role}` < `${right.id} ${right.role}` ? -1 : 1));
}

export function progressOf(
  now: readonly Leaving[],
  before: readonly Progress[],
  passedMs: number,
): Progress[] {
  return now.map((each) => {
    const known = before.find(({ id, role }) => id === each.id && role === each.role);
    const moved = (known?.storedBytes ?? 0) - each.storedBytes;
    const firstBytes = Math.max(known?.firstBytes ?? each.storedBytes, each.storedBytes);
    const leftMs = moved > 0 ? Math.round((each.storedBytes / moved) * passedMs) : undefined;
    return { ...each, firstBytes, leftMs };
  });
}
