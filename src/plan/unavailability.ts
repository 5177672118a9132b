// Why a database does not serve, in the words of its status, and better where those mislead.
// Rules: spec/explain.md [E46].
import type { DatabaseStatus } from "../model/database-status.ts";
import { nameList } from "./wait.ts";

export function unavailabilityOf(status: DatabaseStatus): string {
  const coordinators = status.client?.coordinators;
  if (coordinators !== undefined && coordinators.quorum_reachable !== true) {
    return coordinatorsText(coordinators.coordinators ?? []);
  }
  const recovery = status.cluster?.recovery_state;
  // In this state a database speaks of coordinators, but with a majority of them it can only lack its logs.
  if (recovery?.name === "locking_coordinated_state") {
    const missing = recovery["missing_logs"];
    const named = typeof missing === "string" && missing !== "" ? ` (${missing})` : "";
    return `it waits for transaction logs of its last generation, and too many are gone${named}`;
  }
  const [message] = status.cluster?.messages ?? status.client?.messages ?? [];
  return (
    recovery?.description ??
    recovery?.name ??
    message?.description ??
    message?.name ??
    "it gives no reason"
  );
}

function coordinatorsText(all: readonly { address: string; reachable: boolean }[]): string {
  const silent = all.filter(({ reachable }) => !reachable).map(({ address }) => address);
  if (silent.length === 0) return "a majority of the coordinators cannot be reached";
  return `${silent.length} of ${all.length} coordinators cannot be reached: ${nameList(silent)}`;
}
