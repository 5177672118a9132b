// How operators that look after the same resource talk to each other: one asks in an annotation of the resource, the one that
// works on it answers in the same place. Rules: spec/overlap.md [OVER2], [OVER4], [OVER7].
import { formatTime, parseTime } from "../kube/time.ts";

export const questionAnnotation = "foundationdb.org/operator-question";

export interface OperatorQuestion {
  readonly askedBy: string;
  readonly askedMs: number;
  /** Who works on the resource: the one that answered, or the one that asked in vain and took it over. */
  readonly answer?: { readonly by: string; readonly atMs: number };
}

/** Names hold no spaces. */
const pattern = /^asked by (\S{1,128}) at (\S+?)(?:, answered by (\S{1,128}) at (\S+))?$/;

export function formatQuestion({ askedBy, askedMs, answer }: OperatorQuestion): string {
  const asked = `asked by ${askedBy} at ${formatTime(askedMs)}`;
  if (answer === undefined) return asked;
  return `${asked}, answered by ${answer.by} at ${formatTime(answer.atMs)}`;
}

/** Undefined when the text is no question. */
export function parseQuestion(text: string | undefined): OperatorQuestion | undefined {
  const [, askedBy, askedAt, by, answeredAt] = pattern.exec(text ?? "") ?? [];
  const askedMs = parseTime(askedAt);
  if (askedBy === undefined || askedMs === undefined) return undefined;
  const atMs = parseTime(answeredAt);
  if (by === undefined || atMs === undefined) return { askedBy, askedMs };
  return { askedBy, askedMs, answer: { by, atMs } };
}
