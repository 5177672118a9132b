// Whether an operator works on a resource or stands back because another one does, by what the API server has noted about who
// wrote the status, and by the question that one of them has asked. Rules: spec/overlap.md [OVER2]-[OVER7].
import { parseQuestion, questionAnnotation } from "../../api/operator-question.ts";
import type { OperatorQuestion } from "../../api/operator-question.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { ownTimeMs } from "../view/server-time.ts";

/** Every operator of this kind writes under a name that begins with it. */
export const operatorPrefix = "fdb-operator:";

export function isOperator(manager: string): boolean {
  return manager.startsWith(operatorPrefix);
}

/** An operator that works answers within this time, also when the API server is slow. */
export const answerMs = 60_000;
/** Who stands back asks again after this time. */
export const askAgainMs = 30 * 60_000;

export interface Standing {
  /** Nothing is done with the resource, its status among it. */
  readonly isBack: boolean;
  /** The other one, where it is known. */
  readonly other?: string;
  /** To be written. */
  readonly question?: OperatorQuestion;
  /** When to look again at the latest. */
  readonly untilMs?: number;
}

interface Claim {
  readonly by: string;
  readonly atMs: number;
}

const alone: Standing = { isBack: false };

/** `nowMs` is the time of the API server. */
export function standingOf(own: string, metadata: ObjectMeta, nowMs: number): Standing {
  const asked = parseQuestion(metadata.annotations?.[questionAnnotation]);
  const question = asked && withinNow(asked, nowMs);
  const claims = [...statusWriters(metadata), ...(question?.answer ? [question.answer] : [])];
  const newestMs = claims.reduce((most, { atMs }) => Math.max(most, atMs), 0);
  const newest = claims.filter(({ atMs }) => atMs === newestMs);
  const isOwn = newest.length === 0 || newest.some(({ by }) => by === own);
  if (isOwn) return working(own, question, nowMs);
  return waiting(own, newest[0]?.by ?? "", question, nowMs);
}

/** Who works answers a question of somebody else, and knows of it for as long as the other one may be there. */
function working(own: string, question: OperatorQuestion | undefined, nowMs: number): Standing {
  if (question === undefined || question.askedBy === own) return alone;
  const { askedBy: other, askedMs, answer } = question;
  if (answer === undefined) {
    if (nowMs - askedMs >= answerMs) return alone;
    return { isBack: false, other, question: { ...question, answer: { by: own, atMs: nowMs } } };
  }
  const untilMs = answer.atMs + askAgainMs + answerMs;
  return answer.by === own && nowMs < untilMs ? { isBack: false, other, untilMs } : alone;
}

function waiting(
  own: string,
  other: string,
  question: OperatorQuestion | undefined,
  nowMs: number,
): Standing {
  const back = { isBack: true, other };
  const { askedBy, askedMs = 0, answer } = question ?? {};
  if (answer !== undefined) {
    const untilMs = answer.atMs + askAgainMs;
    // Who has taken it over by itself knows of nobody.
    const isForOther = answer.by === other && askedBy !== other;
    if (isForOther && nowMs < untilMs) return { ...back, untilMs };
    return { ...back, question: { askedBy: own, askedMs: nowMs } };
  }
  const untilMs = askedMs + answerMs;
  if (question !== undefined && nowMs < untilMs) return { ...back, untilMs };
  if (question !== undefined && askedBy === own && isInVain(question, nowMs)) {
    return { ...back, question: { ...question, answer: { by: own, atMs: nowMs } } };
  }
  return { ...back, question: { askedBy: own, askedMs: nowMs } };
}

/** A question that was left behind long ago, before a stop of who asked, proves nothing about now. */
function isInVain({ askedMs }: OperatorQuestion, nowMs: number): boolean {
  return nowMs - askedMs < 3 * answerMs;
}

/** Of operators of this kind only. */
function statusWriters({ managedFields = [] }: ObjectMeta): Claim[] {
  return managedFields.flatMap(({ manager = "", subresource, time }) => {
    const atMs = ownTimeMs({}, time);
    if (subresource !== "status" || atMs === undefined) return [];
    return isOperator(manager) ? [{ by: manager, atMs }] : [];
  });
}

/** A clock that was ahead must not put an answer or a question into the future. */
function withinNow(question: OperatorQuestion, nowMs: number): OperatorQuestion {
  const { answer } = question;
  const askedMs = Math.min(question.askedMs, nowMs);
  if (answer === undefined) return { ...question, askedMs };
  return { ...question, askedMs, answer: { ...answer, atMs: Math.min(answer.atMs, nowMs) } };
}
