// What a pass over a backup and one over a restore have in common: the status is written when it is due, outputs of commands
// are read, actions are performed one after the other, failures rest for a while, and the next look is named.
// Rules: spec/backup.md [BK2], [BK95]-[BK98].
import type { BlockedBy } from "../../api/blocked-by.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { withoutSecrets } from "../../build/backup-url.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Clock } from "../../env/clock.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { Log } from "../../env/log.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import type { KubeObject } from "../../kube/object.ts";
import { keyOf, keyText } from "../../kube/path.ts";
import type { WorkOutcome } from "../../kube/queue.ts";
import type { Reflector } from "../../kube/reflector.ts";
import type { Resource } from "../../kube/resource.ts";
import { concernOf } from "../../plan/reasons/concern.ts";
import { describeBackupAction } from "../../plan/backup/action.ts";
import type { BackupAction } from "../../plan/backup/action.ts";
import type { PlanEvent } from "../../plan/step.ts";
import type { Wait } from "../dated-plan.ts";
import { invalidSpecReason, problemText } from "../invalid-spec.ts";
import { waitEvents } from "../transition-events.ts";
import type { ResourceState } from "./state.ts";

/** The resource of a pass. */
export interface PassSubject<T extends Reconciled> {
  readonly resource: Resource<T>;
  readonly cache: Reflector<T>;
  readonly object: T;
  readonly state: ResourceState;
  /** How the figures of its status are renewed that move all the time. */
  readonly figuresMs: number;
}

type Reconciled = KubeObject & {
  readonly status?: { readonly blockedBy?: readonly BlockedBy[] };
};

export interface PassTools {
  clock: Clock;
  log: Log;
  client: KubeClient;
  recorder: EventRecorder;
}

/** Of a plan, as far as every resource has it. */
export interface PassPlan {
  readonly actions: readonly BackupAction[];
  readonly waits: readonly Wait[];
  readonly events: readonly PlanEvent[];
  /** All that the steps asked for, also what rests after a failure. */
  readonly wanted: readonly string[];
  /** Pods of ended commands whose output the next plan wants to see. */
  readonly reads: readonly string[];
}

export type PassOutcome =
  | { readonly kind: "done"; readonly action: BackupAction }
  /** The object had changed meanwhile: the next pass decides anew. */
  | { readonly kind: "stale"; readonly action: BackupAction }
  | {
      readonly kind: "failed";
      readonly action: BackupAction;
      readonly message: string;
      readonly isForbidden: boolean;
    };

export type StatusWrite = "unchanged" | "written" | "held" | "conflict";

export const soonMs = 50;
export const staleMs = 250;
const failureMaximumMs = 60_000;

export async function writeStatus<T extends Reconciled>(
  { client, clock }: PassTools,
  { resource, cache, object, state, figuresMs }: PassSubject<T>,
  status: T["status"],
  due: "unchanged" | "figures" | "now",
): Promise<StatusWrite> {
  if (due === "unchanged") return "unchanged";
  const nowMs = clock.nowMs();
  if (due === "figures" && nowMs - state.statusWrittenMs < figuresMs) return "held";
  const place = { resource, cache, key: keyOf(object) };
  state.ownWrites.begin();
  try {
    const stored = await state.doubts.during(place, () =>
      client.updateStatus(resource, { ...object, status }),
    );
    cache.observeWrite(stored);
    state.ownWrites.end(stored.metadata.resourceVersion);
    state.statusWrittenMs = nowMs;
    return "written";
  } catch (error) {
    state.ownWrites.end(undefined);
    if (!isKubeError(error, "Conflict") && !isKubeError(error, "NotFound")) throw error;
    return "conflict";
  }
}

/** Told when it is stored, so that a lost race tells nothing twice. */
export function recordEvents<T extends Reconciled>(
  { clock, recorder }: PassTools,
  { object, state }: PassSubject<T>,
  plan: PassPlan,
  changes: readonly PlanEvent[],
): void {
  const waiting = waitEvents(plan.waits, state.toldWaits, storedWaits(object), clock.nowMs());
  state.toldWaits = waiting.told;
  for (const { type, reason, message } of [
    ...plan.events,
    ...changes,
    ...waiting.begun,
    ...waiting.events,
  ]) {
    recorder.record(object, type, reason, message);
  }
}

function storedWaits({ status }: Reconciled): { blockedBy?: BlockedBy[] } {
  return status?.blockedBy === undefined ? {} : { blockedBy: [...status.blockedBy] };
}

/** More than this no tool prints that is read here. */
const outputBytesMax = 1_000_000;

/** Only what the last plan wants is kept. Says whether the next pass knows more than this one did. */
export async function readOutputs<T extends Reconciled>(
  { client }: PassTools,
  { object, state }: PassSubject<T>,
  names: readonly string[],
): Promise<boolean> {
  const { namespace = "" } = object.metadata;
  let isNews = false;
  for (const name of names) {
    if (state.outputs.has(name)) continue;
    const options = { container: mainContainerName, limitBytes: outputBytesMax };
    try {
      state.outputs.set(name, await client.podLog({ namespace, name }, options));
      state.unread.delete(name);
      isNews = true;
    } catch (error) {
      if (!isKubeError(error)) throw error;
      // The node of the pod may be gone: the next pass says so and tries again.
      isNews ||= !state.unread.has(name);
      state.unread.set(name, withoutSecrets(error.message));
    }
  }
  for (const known of [state.outputs, state.unread]) {
    for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
  }
  return isNews;
}

/** One after the other, until the operator is told to stop. */
export async function performAll<T extends Reconciled>(
  tools: PassTools & { isStopped: () => boolean },
  subject: PassSubject<T>,
  plan: PassPlan,
  perform: (object: T, action: BackupAction) => Promise<void>,
): Promise<PassOutcome[]> {
  const outcomes: PassOutcome[] = [];
  for (const action of plan.actions) {
    if (tools.isStopped()) break;
    // The status may have been written since, which gives the resource another version.
    const newest = subject.cache.get(keyOf(subject.object)) ?? subject.object;
    const outcome = await performOne(() => perform(newest, action), action);
    note(tools, subject, outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function performOne(act: () => Promise<void>, action: BackupAction): Promise<PassOutcome> {
  try {
    await act();
    return { kind: "done", action };
  } catch (error) {
    if (isKubeError(error, "Conflict") || isKubeError(error, "NotFound")) {
      return { kind: "stale", action };
    }
    // A refusal may quote the arguments of a pod.
    const message = withoutSecrets(error instanceof Error ? error.message : String(error));
    return { kind: "failed", action, message, isForbidden: isKubeError(error, "Forbidden") };
  }
}

function note<T extends Reconciled>(
  { clock, log }: PassTools,
  { resource, object, state }: PassSubject<T>,
  outcome: PassOutcome,
): void {
  const { action } = outcome;
  const what = describeBackupAction(action);
  const fields = { [labelOf(resource)]: keyText(keyOf(object)), step: action.step, action: what };
  if (outcome.kind === "done") {
    state.failures.delete(what);
    log.info("action performed", fields);
    return;
  }
  if (outcome.kind === "stale") return log.debug("the object had changed", fields);
  const { message, isForbidden } = outcome;
  const count = (state.failures.get(what)?.count ?? 0) + 1;
  const pauseMs = Math.min(failureMaximumMs, 1000 * 2 ** Math.min(count - 1, 10));
  const retryAtMs = clock.nowMs() + pauseMs;
  const failure = { key: what, step: action.step, what, message, isForbidden, retryAtMs, count };
  state.failures.set(what, failure);
  log.warn("action failed", { ...fields, error: message });
}

/** "backup" or "restore", as logs call it. */
function labelOf({ kind }: Resource<unknown>): string {
  return kind.replace("FoundationDB", "").toLowerCase();
}

/** How often the database is asked while something moves, and while a person is waited for. */
const busyMs = 3_000;
export const patientMs = 15_000;

export function waitingMs(waits: readonly Wait[]): number {
  return waits.some(({ reason }) => concernOf(reason) === "person") ? patientMs : busyMs;
}

/** What a pass has led to. */
export interface PassResult {
  readonly outcomes: readonly PassOutcome[];
  readonly written: StatusWrite;
  /** Something was read that the plan has asked for. */
  readonly isNews: boolean;
}

export function againAfter<T extends Reconciled>(
  { clock }: PassTools,
  { state, figuresMs }: PassSubject<T>,
  plan: PassPlan,
  { outcomes, written, isNews }: PassResult,
): number {
  forgetFailures(state, plan);
  const nowMs = clock.nowMs();
  const times = [state.intervalMs];
  for (const { retryAtMs } of plan.waits) times.push(Math.max(soonMs, retryAtMs - nowMs));
  for (const { retryAtMs } of state.failures.values()) {
    times.push(Math.max(soonMs, retryAtMs - nowMs));
  }
  if (outcomes.some(({ kind }) => kind === "done") || isNews) times.push(soonMs);
  if (outcomes.some(({ kind }) => kind === "stale")) times.push(staleMs);
  if (written === "held") times.push(Math.max(soonMs, state.statusWrittenMs + figuresMs - nowMs));
  return leastOf(times);
}

/** What is not wanted any more has not failed. */
function forgetFailures(state: ResourceState, plan: PassPlan): void {
  const wanted = new Set(plan.wanted);
  for (const key of state.failures.keys()) if (!wanted.has(key)) state.failures.delete(key);
}

/** Stores what is wrong with a spec, and tells it once for each generation. */
export async function reportInvalid<T extends Reconciled>(
  tools: PassTools,
  subject: PassSubject<T>,
  status: T["status"],
  due: "unchanged" | "figures" | "now",
  problems: readonly ValidationProblem[],
): Promise<WorkOutcome> {
  const { resource, object, state } = subject;
  const isTold = object.status?.blockedBy?.some(({ reason }) => reason === invalidSpecReason);
  const written = await writeStatus(tools, subject, status, due);
  if (written === "conflict") return { againAfterMs: staleMs };
  if (state.reportedGeneration === object.metadata.generation) return {};
  state.reportedGeneration = object.metadata.generation;
  const text = problemText(problems);
  tools.log.warn("spec not valid", { [labelOf(resource)]: keyText(keyOf(object)), problems: text });
  // A stored report means that an operator before this one has told of it already.
  if (isTold !== true || written === "written") {
    tools.recorder.record(object, "Warning", `${resource.kind} not valid`, text);
  }
  return {};
}

/** Once for each generation: what the resource asks for, is valid, and is worth a thought. */
export function warnOfSpec<T extends Reconciled>(
  { recorder }: PassTools,
  { object, state }: PassSubject<T>,
  warnings: readonly ValidationProblem[],
): void {
  const { generation } = object.metadata;
  if (state.warnedGeneration === generation) return;
  state.warnedGeneration = generation;
  for (const { field, message, remedy } of warnings) {
    recorder.record(object, "Warning", "SpecWarning", `${field}: ${message} (${remedy})`);
  }
}
