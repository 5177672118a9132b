// Stands back from a resource that another operator works on, and answers one that asks. What is decided is in
// plan/overlap. Rules: spec/overlap.md [OVER1]-[OVER5], [OVER8]-[OVER10].
import { createHash } from "node:crypto";
import { formatQuestion, questionAnnotation } from "../api/operator-question.ts";
import type { Clock } from "../env/clock.ts";
import type { Log } from "../env/log.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { keyOf, keyText } from "../kube/path.ts";
import type { WorkOutcome } from "../kube/queue.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { Resource, Stored } from "../kube/resource.ts";
import type { ServerClock } from "../kube/server-clock.ts";
import { lastClaimMs, operatorPrefix, standingOf } from "../plan/overlap/standing.ts";
import type { Standing } from "../plan/overlap/standing.ts";

/** The API server takes no longer name of who writes. */
const nameMaximum = 128;
/** After a write of our own, and after a race that was lost. */
const soonMs = 250;
/** How often it is looked at, whatever was said: a time that another clock wrote may be wrong. */
const lookMs = 5 * 60_000;
/** How often it is looked at who works on the cluster of a resource. */
const clusterLookMs = 60_000;

export interface OverlapTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly client: KubeClient;
  readonly recorder: EventRecorder;
  readonly serverClock: ServerClock;
  /** Of this operator; undefined for one that is certainly alone. */
  readonly operatorName: string | undefined;
}

export interface OverlapPlace<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly cache: Reflector<T>;
  readonly object: Stored<T>;
  /** Of a backup, a restore or a drill, when there is one: who works on it has its database. */
  readonly cluster?: KubeObject | undefined;
  /** Remembers whom it was said of. */
  readonly state: OverlapState;
}

export interface OverlapState {
  toldOverlap: string | undefined;
  /** The last pass stood back: what was remembered before it is of no use any more. */
  isBack: boolean;
}

/** The name under which an operator writes. */
export function operatorNameOf(namespace: string, name: string): string {
  const whole = `${operatorPrefix}${namespace}/${name}`;
  if (whole.length <= nameMaximum) return whole;
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 16);
  return `${whole.slice(0, nameMaximum - digest.length - 1)}-${digest}`;
}

/** Of another operator that has asked and was answered. */
export function overlappingOperator(
  { operatorName, clock, serverClock }: Omit<OverlapTools, "log" | "client" | "recorder">,
  metadata: ObjectMeta,
): string | undefined {
  if (operatorName === undefined) return undefined;
  const standing = standingOf(operatorName, metadata, clock.nowMs() + serverClock.aheadMs);
  return standing.isBack ? undefined : standing.other;
}

/** Whether another operator than this one works on a resource by now. */
export function isTakenOver(
  {
    operatorName,
    clock,
    serverClock,
  }: Pick<OverlapTools, "operatorName" | "clock"> & {
    readonly serverClock: Pick<ServerClock, "aheadMs">;
  },
  metadata: ObjectMeta,
): boolean {
  if (operatorName === undefined) return false;
  return standingOf(operatorName, metadata, clock.nowMs() + serverClock.aheadMs).isBack;
}

/** What the pass comes to when the resource is not to be worked on now; undefined when it is. */
export async function standBack<T extends KubeObject>(
  tools: OverlapTools,
  place: OverlapPlace<T>,
): Promise<WorkOutcome | undefined> {
  const { operatorName, clock, serverClock } = tools;
  if (operatorName === undefined) return undefined;
  const nowMs = clock.nowMs() + serverClock.aheadMs;
  const ofCluster = place.cluster && standingOf(operatorName, place.cluster.metadata, nowMs);
  if (ofCluster?.isBack === true) {
    // Without an answer of ours it comes to the one that has the database.
    place.state.isBack = true;
    tell(tools, place, ofCluster);
    return { againAfterMs: clusterLookMs };
  }
  const clusterMs = place.cluster && lastClaimMs(operatorName, place.cluster.metadata, nowMs);
  const standing = standingOf(operatorName, place.object.metadata, nowMs, clusterMs);
  place.state.isBack = standing.isBack;
  tell(tools, place, standing);
  if (standing.question !== undefined) {
    await write(tools, place, formatQuestion(standing.question));
    return { againAfterMs: soonMs };
  }
  if (!standing.isBack) return undefined;
  const { untilMs = nowMs + lookMs } = standing;
  return { againAfterMs: Math.min(lookMs, Math.max(soonMs, untilMs - nowMs)) };
}

async function write<T extends KubeObject>(
  { client, log }: OverlapTools,
  { resource, cache, object }: OverlapPlace<T>,
  text: string,
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  // Of two who write at once only one does: the other one reads that first.
  const body = { metadata: { uid, resourceVersion, annotations: { [questionAnnotation]: text } } };
  try {
    const stored = await client.patch(resource, keyOf(object), body, { type: "merge" });
    cache.observeWrite(stored);
  } catch (error) {
    if (!isKubeError(error, "Conflict") && !isKubeError(error, "NotFound")) throw error;
    log.debug("another one wrote first", { object: keyText(keyOf(object)) });
  }
}

function tell<T extends KubeObject>(
  { log, recorder }: OverlapTools,
  { resource, object, state }: OverlapPlace<T>,
  { isBack, other, question }: Standing,
): void {
  // Before the answer nobody knows whether the other one is there.
  const isKnown = other !== undefined && (question?.answer !== undefined || question === undefined);
  const told = isKnown ? `${isBack} ${other}` : undefined;
  if (told === state.toldOverlap || (told === undefined && isBack)) return;
  state.toldOverlap = told;
  if (told === undefined) return;
  const fields = { object: `${resource.plural} ${keyText(keyOf(object))}`, other };
  const message = isBack
    ? `The operator ${other} works on it: this one stands back. Give the two disjoint namespaces or selectors`
    : `The operator ${other} looks after it, too, and stands back. Give the two disjoint namespaces or selectors`;
  if (isBack) log.warn("another operator works on it", fields);
  else log.warn("another operator looks after it", fields);
  recorder.record(object, "Warning", "OperatorOverlap", message);
}
