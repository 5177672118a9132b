// The words of the page: of states, answers and times, so that nothing is told by a colour alone. Pure.
// Rules: spec/page.md [PAGE5].
import type { ClusterCard, TileState } from "../view-model.ts";
import type { ExplainedFact, Verdict } from "../../plugin/explain/page.ts";

export type Urgency = ClusterCard["urgency"];

/** What somebody who was woken up wants to know first. */
export const urgencyWords: Readonly<Record<Urgency, string>> = {
  0: "All is well",
  1: "The operator is at work",
  2: "Worth a look",
  3: "Somebody is needed",
};

export const urgencyMarks: Readonly<Record<Urgency, string>> = { 0: "✓", 1: "↻", 2: "!", 3: "✕" };

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
  working: "at work",
  healthy: "healthy",
};

/** In the order of the legend: what is wrong comes first. */
export const tileStates: readonly TileState[] = [
  ...(["failing", "starting", "leaving", "outdated", "foreign", "well"] as const),
];

export const stateMeanings: Readonly<Record<TileState, string>> = {
  failing: "should run and does not",
  starting: "its pod is not there or does not run yet",
  leaving: "marked for removal",
  outdated: "made from an older specification",
  foreign: "the database knows it, the resource does not",
  well: "nothing is wrong",
};

/** "later": no, and it is being worked on. */
type ShownAnswer = ExplainedFact["answer"] | "later";

export const answerMarks: Readonly<Record<ShownAnswer, string>> = {
  yes: "✓",
  no: "✕",
  later: "↻",
  unknown: "?",
};

export const answerWords: Readonly<Record<ShownAnswer, string>> = {
  yes: "Yes",
  no: "No",
  later: "Not yet",
  unknown: "Not known",
};

const two = (number: number): string => String(number).padStart(2, "0");

/** "14:05:09" by the clock of whoever looks. */
export function clockText(atMs: number): string {
  const time = new Date(atMs);
  if (Number.isNaN(time.getTime())) return "";
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** "Nov 17, 14:05". */
export function dateText(atMs: number): string {
  const time = new Date(atMs);
  const month = months[time.getMonth()];
  if (month === undefined) return "";
  return `${month} ${time.getDate()}, ${two(time.getHours())}:${two(time.getMinutes())}`;
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
