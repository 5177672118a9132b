// Why a database does not serve, in the words of its status, and better where those mislead.
// Rules: spec/explain.md [E46].
import { remedyOf } from "../reasons/registry.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { nameList } from "../wait.ts";
import type { DatabaseObservation } from "../snapshot.ts";

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

// A database of which nothing is known: nobody answers behind the connection string, or somebody else does, and what a person
// can do about it. Rules: spec/safety.md [S10], [S150].
type Silence = Extract<DatabaseObservation, { kind: "missing" }>;

export interface SilenceText {
  reason: "DatabaseForeign" | "DatabaseUnreachable" | "OperatorTrustMissing";
  /** The beginning of a sentence, without capital and full stop. */
  clause: string;
  remedy: string;
}

export function silenceOf({ reason, message }: Silence): SilenceText {
  if (reason === "Foreign") {
    return { reason: "DatabaseForeign", clause: message, remedy: remedyOf("DatabaseForeign") };
  }
  if (reason === "Untrusted") {
    const remedy = remedyOf("OperatorTrustMissing");
    return { reason: "OperatorTrustMissing", clause: message, remedy };
  }
  const why = message === "" ? "" : `: ${message}`;
  const clause = `the database does not answer${why}`;
  return { reason: "DatabaseUnreachable", clause, remedy: remedyOf("DatabaseUnreachable") };
}
