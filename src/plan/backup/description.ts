// What `fdbbackup describe --json` says of a container. The log has both streams in one, so the JSON is looked for.
// Rules: spec/backup.md [BK101], [BK108].
import type { NewWait } from "../wait.ts";
import type { BackupSnapshot } from "./snapshot.ts";

export interface DescribedSnapshot {
  readonly begin: number;
  readonly end: number;
  readonly isRestorable: boolean;
}

export interface Description {
  /** The oldest first. */
  readonly snapshots: readonly DescribedSnapshot[];
  /** The first and the last version that can be restored. */
  readonly restorableFrom: number | undefined;
  readonly restorableTo: number | undefined;
}

/** Undefined when there is no description in the text, or only a part of one. */
export function parseDescription(text: string): Description | undefined {
  const line = text.split("\n").find((each) => each.startsWith("{"));
  const parsed = line === undefined ? undefined : parseJson(line);
  if (parsed === undefined) return undefined;
  const snapshots = listOf(parsed["Snapshots"]).flatMap((each): DescribedSnapshot[] => {
    const [begin, end] = [versionOf(each["Start"]), versionOf(each["End"])];
    if (begin === undefined || end === undefined) return [];
    return [{ begin, end, isRestorable: each["Restorable"] === true }];
  });
  const byEnd = snapshots.toSorted((left, right) => left.end - right.end);
  const from = versionOf(parsed["MinRestorablePoint"]);
  return {
    snapshots: byEnd,
    restorableFrom: firstBefore(parsed, byEnd, from) ?? from,
    restorableTo: versionOf(parsed["MaxRestorablePoint"]),
  };
}

/**
 * The first version of the logs that a snapshot leads into, when the window is only a newest snapshot that is ahead of them:
 * FoundationDB then takes what the logs have not reached yet for a gap.
 */
function firstBefore(
  parsed: Fields,
  snapshots: readonly DescribedSnapshot[],
  from = 0,
): number | undefined {
  const begin = versionOf(parsed["MinLogBegin"]);
  const end = versionOf(parsed["ContiguousLogEnd"]);
  const isWhole = end !== undefined && end === versionOf(parsed["MaxLogEnd"]);
  if (!isWhole || begin === undefined || from < end) return undefined;
  return snapshots.find((each) => each.isRestorable && each.begin >= begin && each.end < end)?.end;
}

type Fields = Readonly<Record<string, unknown>>;

function parseJson(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : undefined;
  } catch {
    // Not all of it was printed, or it is something else.
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function versionOf(value: unknown): number | undefined {
  const version = isFields(value) ? value["Version"] : undefined;
  return typeof version === "number" ? version : undefined;
}

/** The command has ended, and its log is on its way, or cannot be had at the moment. */
export function readingWait(
  { unread }: Pick<BackupSnapshot, "unread">,
  step: string,
  podName: string,
): NewWait {
  const shared = { step, object: `pod/${podName}`, retryAfterMs: 5_000 };
  const problem = unread.get(podName);
  if (problem === undefined) {
    return {
      ...shared,
      reason: "BackupCommandRunning",
      message: `The output of pod ${podName} is being read`,
      remedy: "Nothing: it passes by itself.",
    };
  }
  return {
    ...shared,
    reason: "BackupOutputUnreadable",
    message: `The output of pod ${podName} cannot be read: ${problem}`,
    remedy: `Look at the node of the pod. Ten minutes after its end, or when you delete it, the command runs again in another pod.`,
  };
}

/** `consequence`: what is therefore not done. */
export function noDescriptionWait(step: string, podName: string, consequence: string): NewWait {
  return {
    step,
    reason: "BackupCommandFailed",
    message: `What fdbbackup describe printed in pod ${podName} is no description of a backup, so ${consequence}`,
    remedy: `Look at \`kubectl logs ${podName} -c foundationdb\`; it is tried again in ten minutes.`,
    retryAfterMs: 60_000,
  };
}
