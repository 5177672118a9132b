// How operators that look after the same resource talk to each other: one asks in an annotation of the resource, the one that
// works on it answers in the same place. Rules: spec/overlap.md [OVER2], [OVER4], [OVER7].
import { formatTime, parseTime } from "../kube/time.ts";

export const questionAnnotation = "foundationdb.org/operator-question";

export interface OperatorQuestion {
  readonly askedBy: string;
  readonly askedMs: number;
  /** Who worked on the resource when it was asked: a question must not erase that. */
  readonly askedOf?: string;
  /** Who works on the resource: the one that answered, or the one that asked in vain and took it over. */
  readonly answer?: { readonly by: string; readonly atMs: number };
}

/** Names hold no spaces. */
const pattern =
  /^asked by (\S{1,128})(?: of (\S{1,128}))? at (\S+?)(?:, answered by (\S{1,128}) at (\S+))?$/;

export function formatQuestion({ askedBy, askedMs, askedOf, answer }: OperatorQuestion): string {
  const whom = askedOf === undefined ? "" : ` of ${askedOf}`;
  const asked = `asked by ${askedBy}${whom} at ${formatTime(askedMs)}`;
  if (answer === undefined) return asked;
  return `${asked}, answered by ${answer.by} at ${formatTime(answer.atMs)}`;
}

/** Undefined when the text is no question. */
export function parseQuestion(text: string | undefined): OperatorQuestion | undefined {
  const [, askedBy, askedOf, askedAt, by, answeredAt] = pattern.exec(text ?? "") ?? [];
  const askedMs = parseTime(askedAt);
  if (askedBy === undefined || askedMs === undefined) return undefined;
  const asked = { askedBy, askedMs, ...(askedOf === undefined ? {} : { askedOf }) };
  const atMs = parseTime(answeredAt);
  if (by === undefined || atMs === undefined) return asked;
  return { ...asked, answer: { by, atMs } };
}
