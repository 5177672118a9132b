// The words of the page: of states, answers and times, so that nothing is told by a colour alone. Pure.
// Rules: spec/page.md [PAGE5].
import type { BackupTroubles, TileState, Urgency } from "../view-model.ts";
import { formatAge } from "../../plugin/explain/words.ts";
import type { ExplainedFact, Verdict } from "../../plugin/explain/page.ts";
import type { GroupCounts } from "../../plugin/status/group-counts.ts";

/** What somebody who was woken up wants to know first. */
const urgencyWords: Readonly<Record<Urgency, string>> = {
  0: "All is well",
  1: "The operator is at work",
  2: "Worth a look",
  3: "Somebody is needed",
};

const urgencyMarks: Readonly<Record<Urgency, string>> = { 0: "✓", 1: "↻", 2: "!", 3: "✕" };

/** Where nobody is needed, but the operator is not at work, either. */
const calmWords: Readonly<Partial<Record<Verdict, string>>> = {
  asleep: "Asleep",
  paused: "Left alone",
  starting: "Starting",
  deleting: "Being deleted",
};

/** What a chip rests on. */
export interface Needed {
  readonly urgency: Urgency;
  /** Without its backups. */
  readonly ownUrgency: Urgency;
  readonly verdict: Verdict;
  /** Of the wait that matters most. */
  readonly reason: string | undefined;
  /** The backup that needs somebody most. */
  readonly backup: string | undefined;
}

/** What a cluster needs, with its mark; where a backup of it needs more than itself, that is said. */
export function chipOf({
  urgency,
  ownUrgency,
  verdict,
  reason,
  backup = "",
}: Needed): readonly [mark: string, text: string] {
  if (urgency > ownUrgency) {
    return [urgencyMarks[urgency], `${urgencyWords[urgency]}: backup ${backup}`];
  }
  const calm = urgency > 1 ? undefined : calmWords[verdict];
  if (calm !== undefined) return [verdict === "asleep" ? "☾" : urgencyMarks[urgency], calm];
  if (urgency === 1 && reason === "MaintenanceWindowClosed") return ["◷", "Waits for its window"];
  return [urgencyMarks[urgency], urgencyWords[urgency]];
}

export const verdictWords: Readonly<Record<Verdict, string>> = {
  deleting: "being deleted",
  unseen: "not seen by an operator",
  paused: "paused",
  asleep: "asleep",
  unknown: "not known",
  invalid: "cannot be carried out",
  down: "down",
  starting: "starting",
  stuck: "stuck",
  degraded: "degraded",
  working: "not as specified yet",
  healthy: "healthy",
};

/** In the order of the legend: what is wrong comes first. */
export const tileStates: readonly TileState[] = [
  ...(["failing", "starting", "leaving", "outdated", "foreign", "asleep", "well"] as const),
];

export const stateMeanings: Readonly<Record<TileState, string>> = {
  failing: "does not run as it should",
  starting: "comes up, and the operator has not seen it run yet",
  leaving: "is taken out, or about to be",
  outdated: "made from an older specification",
  foreign: "the database knows it, the resource does not",
  asleep: "has no pod while the database sleeps",
  well: "nothing is wrong",
};

/** Conditions in the few letters for which a tile has room. */
const shortTroubles: Readonly<Record<string, string>> = {
  ...{ MissingPod: "no pod", MissingPVC: "volume claim", MissingService: "no service" },
  ...{ MissingProcesses: "no process", PodFailing: "pod not ready", PodPending: "pod pending" },
  ...{ SidecarUnreachable: "sidecar silent", ProcessHasIOError: "disk errors" },
  ...{ NodeTaintDetected: "node tainted", NodeTaintReplacing: "node tainted" },
  ...{ NodeDraining: "node drained", IncorrectPodSpec: "pod", IncorrectPodMetadata: "labels" },
  ...{ IncorrectSidecarImage: "sidecar", IncorrectConfigMap: "configuration" },
  ...{ ClusterFileOutdated: "finds nobody" },
  ...{ IncorrectCommandLine: "arguments", ProcessIsMarkedAsExcluded: "excluded" },
  ...{ ProcessHasHighRunLoopBusy: "overloaded", ResourcesTerminating: "being deleted" },
};

/** What is wrong with a process group, for a tile: "no node", "CrashLoopBackOff"; its story tells it whole. */
export function shortTrouble(text: string): string {
  const [, why] = /^container \S+ waits \((\w+)/.exec(text) ?? [];
  const [short = text] = text.replace(/^leaves,? /, "").split(/[:;(]/);
  return shortTroubles[text] ?? why ?? short.trim();
}

/** "later": no, and it is being worked on; "asleep": no, and that is wanted. */
type ShownAnswer = ExplainedFact["answer"] | "asleep" | "later";

export const answerMarks: Readonly<Record<ShownAnswer, string>> = {
  yes: "✓",
  no: "✕",
  later: "↻",
  asleep: "☾",
  unknown: "?",
};

export const answerWords: Readonly<Record<ShownAnswer, string>> = {
  yes: "Yes",
  no: "No",
  later: "Not yet",
  asleep: "No, it sleeps",
  unknown: "Not known",
};

/** "9 of 11 well, 1 starting, 1 leaving": the parts add up, and those that are still to be made are among them. */
export function wellText(counts: GroupCounts, noun = ""): string {
  const kinds = ["failing", "missing", "outdated", "starting", "leaving"] as const;
  const others = kinds.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`);
  const all = `${counts.total + counts.missing}${noun === "" ? "" : ` ${noun}`}`;
  return [`${counts.well} of ${all} well`, ...others].join(", ");
}

/** "1 of 2 backups in trouble, 1 worth a look". */
export function backupsText({ inTrouble, worthALook }: BackupTroubles, total: number): string {
  const of = total === 1 ? "1 backup" : `${total} backups`;
  if (inTrouble === 0) return `${worthALook} of ${of} worth a look`;
  return `${inTrouble} of ${of} in trouble${worthALook === 0 ? "" : `, ${worthALook} worth a look`}`;
}

const two = (number: number): string => String(number).padStart(2, "0");

/** "14:05:09", in UTC as everything that the operator writes; where it stands alone, "UTC" stands beside it. */
export function clockText(atMs: number): string {
  const time = new Date(atMs);
  if (Number.isNaN(time.getTime())) return "";
  return `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())}`;
}

/** "Nov 17, 14:05 UTC". */
export function dateText(atMs: number): string {
  const time = new Date(atMs);
  const month = months[time.getUTCMonth()];
  if (month === undefined) return "";
  const clock = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`;
  return `${month} ${time.getUTCDate()}, ${clock} UTC`;
}

const dayMs = 86_400_000;

/** For a list of times beside which "UTC" stands: those of another day have their date. */
export function momentText(atMs: number, nowMs: number): string {
  const isToday = Math.floor(atMs / dayMs) === Math.floor(nowMs / dayMs);
  return isToday ? clockText(atMs) : dateText(atMs).replace(" UTC", "");
}

export type ToldPart = string | { readonly atMs: number; readonly text: string };

const writtenTime = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\b/;

/** A sentence of the operator, whose times are written as in its log, with its times as all others on the page. */
export function toldParts(text: string): ToldPart[] {
  const parts: ToldPart[] = [];
  for (const part of text.split(writtenTime)) {
    const atMs = writtenTime.test(part) ? Date.parse(part) : Number.NaN;
    const last = parts.at(-1);
    if (!Number.isNaN(atMs)) parts.push({ atMs, text: dateText(atMs) });
    else if (typeof last === "string") parts[parts.length - 1] = last + part;
    else if (part !== "") parts.push(part);
  }
  return parts;
}

const wordMax = 24;

/** It may be broken between its pieces; what is to be copied whole, only where it does not fit into a line of its own. */
export interface BreakableText {
  readonly pieces: readonly string[];
  readonly isWhole: boolean;
}

/** Where a text may be broken besides its spaces: fields, names of hosts and URLs are longer than a card is wide. */
export function wordsIn(text: string): BreakableText[] {
  const found: { pieces: string[]; isWhole: boolean }[] = [];
  for (const word of text.split(/(?<=\s)/)) {
    const trimmed = word.trimEnd();
    const pieces = trimmed.length > wordMax ? word.split(joints) : [word];
    const last = found.at(-1);
    if (id.test(trimmed) || (trimmed.length > wordMax && field.test(trimmed))) {
      const space = word.slice(trimmed.length);
      found.push({ pieces: trimmed.split(joints), isWhole: true });
      if (space !== "") found.push({ pieces: [space], isWhole: false });
    } else if (last === undefined || last.isWhole) found.push({ pieces, isWhole: false });
    else {
      const [first = "", ...others] = pieces;
      const end = last.pieces.pop() ?? "";
      last.pieces = [...last.pieces, end + first, ...others];
    }
  }
  return found;
}

/** A line that begins with a dot is seen to go on from the one before; one that ends with a dot seems to have ended. */
const joints = /(?<=[/:,;=&?])(?=[^\s./:,;=&?])|(?=\.[^\s./:,;=&?])/;

/** Of a process group, a pod or a node. */
const id = /^\(?(?:[a-z]+\/)?[a-z]\w*(?:-\w+)*-\d+[.,;:)]*$/;
const field = /^[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*(?:\[\d+\])?)+[.,;:)]*$/;

/** What a remedy says, and the command that it ends with, with what leads to it. */
export function commandIn(remedy: string): {
  readonly said: string;
  readonly copied?: { readonly title: string; readonly command: string };
} {
  const [, said = "", title, command] =
    /^(.*[.!?] )?([^.!?]+): (kubectl [^`]*)$/s.exec(remedy) ?? [];
  if (title === undefined || command === undefined) return { said: remedy };
  return { said: said.trimEnd(), copied: { title, command: command.trimEnd() } };
}

/** How long something takes, as all ages of the page are told; a fraction of seconds only where there are few. */
export function durationText(seconds: number): string {
  const isFew = seconds > 0 && seconds < 10 && !Number.isInteger(seconds);
  return isFew ? `${Math.max(0.1, Math.round(seconds * 10) / 10)}s` : formatAge(seconds * 1000);
}

/** What one sees over a time: also by the clock of whoever looks. */
export function timeTitle(atMs: number): string {
  const time = new Date(atMs);
  if (Number.isNaN(time.getTime())) return "";
  const own = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${dateText(atMs)}; ${own} by your clock`;
}

const months: readonly string[] = [
  ...["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
];

/** How a process group is told in one line. */
export function tileText(tile: {
  readonly group: string;
  readonly processClass: string;
  readonly state: TileState;
  readonly isCoordinator: boolean;
  readonly roles: readonly string[];
  readonly troubles: readonly string[];
}): string {
  return [
    tile.group,
    tile.group.includes(tile.processClass) ? "" : tile.processClass,
    tile.state,
    ...tile.troubles,
    tile.isCoordinator ? "coordinator" : "",
    tile.roles.length === 0 ? "" : `roles ${tile.roles.map(roleText).join(", ")}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

export function roleText(role: string): string {
  return role.replaceAll("_", " ");
}

/** As many names as there is room for, and how many more there are. */
export function listThatFits(names: readonly string[], fits: (text: string) => boolean): string {
  for (let count = names.length; count > 1; count -= 1) {
    const more = names.length - count;
    const text = `${names.slice(0, count).join(", ")}${more === 0 ? "" : ` +${more}`}`;
    if (fits(text)) return text;
  }
  const [only = ""] = names;
  return names.length > 1 ? `${only} +${names.length - 1}` : only;
}
