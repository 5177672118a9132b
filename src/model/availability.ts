// Whether a database serves, by what it says of itself: the one question that nearly every decision asks first.
import type { DatabaseStatus } from "./database-status.ts";

/** A status that does not say so, or no status at all, is no proof that the database serves. */
export function isAvailable(status: DatabaseStatus | undefined): status is DatabaseStatus {
  return status?.client?.database_status?.available === true;
}
