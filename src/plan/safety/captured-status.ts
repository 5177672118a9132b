// Statuses of a real FoundationDB for the tests of the safety checks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseStatus } from "../../model/database-status.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/status");

export function capturedStatus(name: string): DatabaseStatus {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as DatabaseStatus;
}
