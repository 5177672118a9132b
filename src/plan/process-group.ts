// A process group as the plan handles it: an entry of the status that has an id and a class.
import type { ProcessGroupStatus } from "../api/cluster.ts";

export type ProcessGroup = ProcessGroupStatus & {
  readonly processGroupID: string;
  readonly processClass: string;
};

/** Entries without an id or class cannot be acted on and are dropped. */
export function groupsOfStatus(groups: readonly ProcessGroupStatus[] | undefined): ProcessGroup[] {
  return (groups ?? []).filter(
    (group): group is ProcessGroup =>
      group.processGroupID !== undefined && group.processClass !== undefined,
  );
}
