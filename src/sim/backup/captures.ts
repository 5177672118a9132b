// What the real backup tools printed, as tests compare with it (test/data/backup).
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Capture {
  readonly argv: readonly string[];
  readonly code: number;
  readonly wall: number;
  readonly stdout: string;
  readonly stderr: string;
}

const folder = join(import.meta.dirname, "..", "..", "..", "test", "data", "backup");

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
}

const captures = readJson("tool-outputs.json") as Readonly<Record<string, Capture>>;

export function capture(name: string): Capture {
  const found = captures[name];
  if (found === undefined) throw new Error(`there is no capture ${name}`);
  return found;
}

/** Parts of the real status, by their path. */
export function capturedLayers(): Readonly<Record<string, Record<string, unknown>>> {
  return readJson("layers-running.json") as Readonly<Record<string, Record<string, unknown>>>;
}
