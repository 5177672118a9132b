// A failed step of a backup tool, with FoundationDB's own code and words.

const texts = {
  1004: "Operation timed out",
  1026: "Network connection failed",
  1511: "File not found",
  1523: "HTTP response code not received or indicated failure",
  2300: "Backup error",
  2301: "Restore error",
  2311: "Backup duplicate request",
  2312: "Backup unneeded request",
  2314: "Backup Container URL invalid",
  2316: "Cannot expire requested data from backup without violating minimum restorability",
  2319: "Backup does not exist",
  2361: "Invalid restore version",
  2362: "Corrupted backup data",
  2363: "Missing backup data",
  2364: "Restore duplicate request",
  2370: "Attempted to restore into a non-empty destination database",
  2382: "Task execution stopped due to timeout, abort, or completion by another worker",
  4100: "An internal error occurred",
} as const;

export type ToolErrorCode = keyof typeof texts;

export class ToolError extends Error {
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string = texts[code]) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}
