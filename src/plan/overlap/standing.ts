// Whether an operator works on a resource or stands back because another one does, by what the API server has noted about who
// wrote the status, and by the question that one of them has asked. Rules: spec/overlap.md [OVER2]-[OVER7].
import { parseQuestion, questionAnnotation } from "../../api/operator-question.ts";
import type { OperatorQuestion } from "../../api/operator-question.ts";
import { mostOf } from "../../env/long-lists.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import { ownTimeMs } from "../view/server-time.ts";

/** Every operator of this kind writes under a name that begins with it. */
export const operatorPrefix = "fdb-operator:";

export function isOperator(manager: string): boolean {
  return manager.startsWith(operatorPrefix);
}

/** An operator that works answers within this time, also when the API server is slow. */
export const answerMs = 60_000;
/** Who has asked takes over within this time, or asks anew. */
const inVainMs = 3 * answerMs;
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

/**
 * `nowMs` is the time of the API server. `clusterMs` says since when at the latest this operator works on the cluster that the
 * resource is of.
 */
export function standingOf(
  own: string,
  metadata: ObjectMeta,
  nowMs: number,
  clusterMs?: number,
): Standing {
  const question = questionIn(metadata);
  const claims = rankedClaims(metadata, nowMs);
  const newestMs = claims.reduce((most, claim) => Math.max(most, claim.rankMs), -Infinity);
  const newest = claims.filter((claim) => claim.rankMs === newestMs);
  const isOwn = newest.length === 0 || newest.some(({ by }) => by === own);
  if (isOwn) return working(own, question, nowMs);
  return waiting({ own, other: newest[0]?.by ?? "", nowMs, clusterMs }, question);
}

/** The last time at which this operator wrote that it works on a resource, if it ever did. */
export function lastClaimMs(own: string, metadata: ObjectMeta, nowMs: number): number | undefined {
  const newestMs = mostOf(
    rankedClaims(metadata, nowMs).flatMap((claim) => (claim.by === own ? [claim.rankMs] : [])),
  );
  return newestMs >= 0 ? newestMs : undefined;
}

function questionIn({ annotations }: ObjectMeta): OperatorQuestion | undefined {
  return parseQuestion(annotations?.[questionAnnotation]);
}

function rankedClaims(metadata: ObjectMeta, nowMs: number) {
  const claims = [...statusWriters(metadata), ...claimsIn(questionIn(metadata))];
  return claims.map(({ by, atMs }) => ({ by, rankMs: rankMs(atMs, nowMs) }));
}

/** Who works answers a question of somebody else, and knows of it for as long as the other one may be there. */
function working(own: string, question: OperatorQuestion | undefined, nowMs: number): Standing {
  if (question === undefined || question.askedBy === own) return alone;
  const { askedBy: other, answer } = question;
  const askedMs = Math.min(question.askedMs, nowMs);
  if (answer === undefined) {
    // Also a late answer: until then who asked may take the resource over at any moment.
    if (nowMs - askedMs >= inVainMs + answerMs) return alone;
    const told = { ...question, askedMs, answer: { by: own, atMs: nowMs } };
    return { isBack: false, other, question: told };
  }
  const untilMs = Math.min(answer.atMs, nowMs) + askAgainMs + answerMs;
  const isThere = answer.by === own && nowMs < untilMs && !isFarAhead(answer.atMs, nowMs);
  return isThere ? { isBack: false, other, untilMs } : alone;
}

interface Waiting {
  readonly own: string;
  readonly other: string;
  readonly nowMs: number;
  readonly clusterMs: number | undefined;
}

function waiting(
  { own, other, nowMs, clusterMs }: Waiting,
  question: OperatorQuestion | undefined,
): Standing {
  const back = { isBack: true, other };
  const asking = { ...back, question: { askedBy: own, askedMs: nowMs, askedOf: other } };
  if (question === undefined) return asking;
  const { askedBy, answer } = question;
  if (answer !== undefined) {
    // Who has taken it over by itself knows of nobody.
    const isForOther = answer.by === other && askedBy !== other;
    const toldMs = answeredMs(own, question, nowMs);
    // Who answered may stand back by now, from the cluster and so from this: nobody would look after it.
    const isOutdated = clusterMs !== undefined && toldMs < clusterMs;
    const untilMs = toldMs + (isOutdated ? answerMs : askAgainMs);
    return isForOther && nowMs < untilMs ? { ...back, untilMs } : asking;
  }
  // Until that time comes nobody would ask again.
  if (isFarAhead(question.askedMs, nowMs)) return asking;
  const untilMs = Math.min(question.askedMs, nowMs) + answerMs;
  if (nowMs < untilMs) return { ...back, untilMs };
  if (askedBy === own && isInVain(question, nowMs)) {
    return { ...back, question: { ...question, answer: { by: own, atMs: nowMs } } };
  }
  return asking;
}

/** When the answer was given, for who stands back: by its own question where the time of the answer cannot be right. */
function answeredMs(own: string, { askedBy, askedMs, answer }: OperatorQuestion, nowMs: number) {
  const atMs = answer?.atMs ?? 0;
  if (!isFarAhead(atMs, nowMs)) return Math.min(atMs, nowMs);
  return askedBy === own && !isFarAhead(askedMs, nowMs) ? Math.min(askedMs, nowMs) : 0;
}

/** A question that was left behind long ago, before a stop of who asked, proves nothing about now. */
function isInVain({ askedMs }: OperatorQuestion, nowMs: number): boolean {
  return nowMs - askedMs < inVainMs;
}

/** Of operators of this kind only. */
function statusWriters({ managedFields = [] }: ObjectMeta): Claim[] {
  return managedFields.flatMap(({ manager = "", subresource, time }) => {
    const atMs = ownTimeMs({}, time);
    if (subresource !== "status" || atMs === undefined) return [];
    return isOperator(manager) ? [{ by: manager, atMs }] : [];
  });
}

/** A question says whom it was asked of, and an answer who works: both outlive what was there before. */
function claimsIn(question: OperatorQuestion | undefined): Claim[] {
  if (question === undefined) return [];
  const { askedOf, askedMs, answer } = question;
  const asked = askedOf === undefined ? [] : [{ by: askedOf, atMs: askedMs }];
  const told = answer === undefined ? asked : [...asked, answer];
  // Times have whole seconds: it was written by who had read the status of that second.
  return told.map(({ by, atMs }) => ({ by, atMs: atMs + 1 }));
}

/** The newest claim counts. One of a clock that was far ahead comes after all others, or nobody else could ever work. */
function rankMs(atMs: number, nowMs: number): number {
  return isFarAhead(atMs, nowMs) ? atMs - Number.MAX_SAFE_INTEGER : atMs;
}

/** Clocks of API servers never differ by so much: somebody has put one right, or wrote the time by hand. */
function isFarAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + askAgainMs;
}
