// Processes that the database lists although it cannot reach them: they died a moment ago, or they are testers
// that nobody cleans up. Rules: spec/restart.md [T3], [T24].
import type { DatabaseStatus } from "../../model/database-status.ts";

/** Addresses as the database writes them. */
export function unreachableAddresses(status: DatabaseStatus): ReadonlySet<string> {
  const found = new Set<string>();
  for (const message of status.cluster?.messages ?? []) {
    if (message.name !== "unreachable_processes") continue;
    const listed = message["unreachable_processes"];
    for (const entry of Array.isArray(listed) ? (listed as unknown[]) : []) {
      const address = isRecord(entry) ? entry["address"] : undefined;
      if (typeof address === "string") found.add(address);
    }
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
