// A short fingerprint of a wanted database configuration, kept in the status.
import { createHash } from "node:crypto";
import type { DatabaseConfiguration } from "../model/database-configuration.ts";

/** Equal for equal configurations, whatever the order of their fields. */
export function hashOf(configuration: DatabaseConfiguration): string {
  const sorted = Object.entries(configuration).sort(([left], [right]) => (left < right ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
