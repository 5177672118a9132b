// Replaces what is secret in the status of a database: in command lines, URLs of backups, connection strings and messages.
// Words of the status itself stay. Rules PIC10, PIC12, PIC13.
import type { Redaction } from "./redaction.ts";

/** Words that the status is made of: they are never secret, even where somebody uses one as a password. */
export function wordsOfStatus(status: unknown, found: Set<string> = new Set()): Set<string> {
  if (typeof status === "string") {
    if (status.length <= 40 && /^[a-z_]+$/.test(status)) found.add(status);
  } else if (Array.isArray(status)) {
    for (const entry of status) wordsOfStatus(entry, found);
  } else if (typeof status === "object" && status !== null) {
    for (const [key, value] of Object.entries(status)) {
      if (/^[a-z_]+$/.test(key)) found.add(key);
      wordsOfStatus(value, found);
    }
  }
  return found;
}

export function redactStatus(redaction: Redaction, status: unknown, key = ""): unknown {
  if (typeof status === "string") {
    return key === "command_line" ? redaction.commandLine(status) : redaction.text(status);
  }
  if (Array.isArray(status)) return status.map((entry) => redactStatus(redaction, entry));
  if (typeof status !== "object" || status === null) return status;
  const entries = Object.entries(status).map(([name, value]) => [
    redaction.text(name),
    redactStatus(redaction, value, name),
  ]);
  return Object.fromEntries(entries);
}
