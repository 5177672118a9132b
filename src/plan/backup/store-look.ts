// A look into the store itself, by `fdbbackup describe --deep` in a pod: some of what the database says of a backup does not
// hold for the place where it lies. Rules: spec/backup.md [BK27], [BK29], [BK71], [BK101].
import { describeCommand } from "../../build/backup-command.ts";
import type { CommandEnd } from "./command-end.ts";
import { noDescriptionWait, parseDescription, readingWait } from "./description.ts";
import type { Description } from "./description.ts";
import { wantedUrl } from "./facts.ts";
import { lastEnd, runCommand } from "./run-command.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

interface Wish {
  readonly step: string;
  /** Another one for every look: the same command does not run twice. */
  readonly context: string;
  /** What holds as long as nothing was read, as a clause. */
  readonly otherwise: string;
  /** The wanted place unless it says another one. */
  readonly url?: string;
}

interface Looked {
  readonly description: Description;
  /** The pod whose output it is, for whoever needs it again in the next pass. */
  readonly reads: readonly string[];
}

/** What has to be done to learn it, and how the last try did. */
interface NotLooked {
  readonly result: BackupStepResult;
  readonly end: CommandEnd | undefined;
}

/** What lies there, or what has to be done to learn it. */
export function lookIntoStore(
  snapshot: BackupSnapshot,
  { step, context, otherwise, url = wantedUrl(snapshot) }: Wish,
): Looked | NotLooked {
  const look = describeCommand(snapshot.backup, url, context);
  const looked = lastEnd(snapshot, look);
  if (looked?.isSuccess !== true) {
    return { result: runCommand(snapshot, step, look), end: looked };
  }
  const name = looked.pod.metadata.name ?? "";
  const reads = [name];
  const output = snapshot.outputs.get(name);
  if (output === undefined)
    return { result: { reads, waits: [readingWait(snapshot, step, name)] }, end: looked };
  const description = parseDescription(output);
  if (description !== undefined) return { description, reads };
  return { result: { reads, waits: [noDescriptionWait(step, name, otherwise)] }, end: looked };
}
