// Conditions under which a preview ends a pipeline: `--fail-on recoveries>1,data-moved>100GB,blocked`. Pure. Rule PV9.
import { nanosOf, parseQuantity } from "../model/quantity.ts";
import type { PreviewReport } from "./report.ts";

export interface FailCondition {
  readonly text: string;
  readonly isMet: (report: PreviewReport) => boolean;
}

export type FailReading =
  | { readonly conditions: readonly FailCondition[] }
  | { readonly problem: string };

const words: Readonly<Record<string, (report: PreviewReport) => boolean>> = {
  blocked: ({ outcome }) => ["blocked", "refused", "unfinished", "lost"].includes(outcome),
  pending: ({ pending }) => pending.length > 0,
  change: ({ outcome }) => outcome !== "nothing",
};

/** The larger end of a range counts: what may happen is enough. */
const figures: Readonly<Record<string, (report: PreviewReport) => number>> = {
  recoveries: ({ recoveries }) => recoveries.most,
  "data-moved": ({ bytesMoved }) => bytesMoved.most,
  "pods-made-again": ({ podsMadeAgain }) => podsMadeAgain.most,
  restarted: ({ processesRestarted }) => processesRestarted.most,
  removed: ({ processGroups }) =>
    Object.values(processGroups.removed).reduce((sum, { most }) => sum + most, 0),
  "pods-without-node": ({ withoutNode }) => Object.keys(withoutNode).length,
  minutes: ({ otherSeconds, movementSeconds }) => (otherSeconds.most + movementSeconds.most) / 60,
};

/** Here it is the lower value that is bad. */
const floors: Readonly<Record<string, (report: PreviewReport) => number | undefined>> = {
  "fault-tolerance": ({ faultTolerance: { lowest } }) =>
    lowest && (lowest.availability < 0 ? -1 : lowest.data),
};

export function readFailConditions(text: string): FailReading {
  const conditions: FailCondition[] = [];
  for (const part of text.split(",").map((one) => one.trim())) {
    const condition = readOne(part);
    if (condition === undefined) return { problem: explain(part) };
    conditions.push(condition);
  }
  return { conditions };
}

function readOne(text: string): FailCondition | undefined {
  if (Object.hasOwn(words, text)) {
    const isMet = words[text];
    return isMet && { text, isMet };
  }
  const [, name = "", sign, amount = ""] = /^([a-z-]+)([<>])(.+)$/.exec(text) ?? [];
  const limit = readAmount(amount);
  const figure = Object.hasOwn(figures, name) ? figures[name] : undefined;
  const floor = Object.hasOwn(floors, name) ? floors[name] : undefined;
  if (limit === undefined) return undefined;
  if (sign === ">" && figure !== undefined) {
    return { text, isMet: (report) => figure(report) > limit };
  }
  if (sign !== "<" || floor === undefined) return undefined;
  // What is not known is not promised.
  return { text, isMet: (report) => isChanging(report) && (floor(report) ?? -1) < limit };
}

function isChanging({ outcome }: PreviewReport): boolean {
  return outcome !== "nothing" && outcome !== "refused";
}

/** A number, or an amount of bytes such as 100GB, 100G or 100Gi. */
function readAmount(text: string): number | undefined {
  const quantity = text.replace(/([kMGTP]i?)B$/, "$1");
  if (!parseQuantity(quantity).ok) return undefined;
  return Number(nanosOf(quantity)) / 1e9;
}

function explain(text: string): string {
  const known = [
    ...Object.keys(words),
    ...Object.keys(figures).map((name) => `${name}>N`),
    ...Object.keys(floors).map((name) => `${name}<N`),
  ];
  return `--fail-on: "${text}" is no condition; there are ${known.join(", ")}, joined by commas, where N may be an amount such as 100GB`;
}
