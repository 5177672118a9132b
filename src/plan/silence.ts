// A database of which nothing is known: nobody answers behind the connection string, or somebody else does, and what a person
// can do about it. Rules: spec/safety.md [S10], [S150].
import type { DatabaseObservation } from "./snapshot.ts";

type Silence = Extract<DatabaseObservation, { kind: "missing" }>;

export const unreachableRemedy =
  "Look at the pods of the coordinators and at `fdbcli --exec 'status details'` in one of them.";

export const staleRemedy =
  "If none of them exists any more, other coordinators were chosen while this resource was not looked after: " +
  "put the text of /var/fdb/data/fdb.cluster of one of its pods into status.connectionString (kubectl patch --subresource status).";

export const foreignRemedy =
  "Put the text of /var/fdb/data/fdb.cluster of a storage pod into status.connectionString " +
  "(kubectl patch --subresource status). If it is the same, look at the logs of the pods and at the network between them and the rest of the database.";

export interface SilenceText {
  reason: "DatabaseForeign" | "DatabaseUnreachable";
  /** The beginning of a sentence, without capital and full stop. */
  clause: string;
  remedy: string;
}

export function silenceOf({ reason, message }: Silence): SilenceText {
  if (reason === "Foreign") {
    return { reason: "DatabaseForeign", clause: message, remedy: foreignRemedy };
  }
  const why = message === "" ? "" : `: ${message}`;
  const clause = `the database does not answer${why}`;
  return { reason: "DatabaseUnreachable", clause, remedy: unreachableRemedy };
}
