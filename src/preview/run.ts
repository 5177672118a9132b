// One run: a copy is woken, the operator works in it until it rests (what it does until then was pending before the
// change), the change is made, and it works until it rests again, or waits without anything to come, or a limit is
// reached. Rules PV3 to PV5, and WIN15.
import type { FoundationDBCluster } from "../api/cluster.ts";
import { validateDocument } from "../api/validate-document.ts";
import type { Activity } from "../operate/activity.ts";
import type { VirtualClock } from "../env/virtual-clock.ts";
import { maintenanceWindowsOf } from "../api/maintenance-windows.ts";
import { nextOpening } from "../model/maintenance-windows.ts";
import { isMarkedForRemoval } from "../model/process-group.ts";
import { heldMessage, isDeletionHeld, isLeftAlone } from "../plan/removal/protect-from-deletion.ts";
import { windowState } from "../plan/safety/window-state.ts";
import { PlanMemory } from "../plan/view/plan-memory.ts";
import { isReconciled } from "../sim/world.ts";
import { applyChange } from "./change.ts";
import type { Change, ChangeTarget } from "./change.ts";
import type { Picture, PictureProblem } from "./picture.ts";
import { Recorder } from "./recorder.ts";
import type { RunEnd, RunRecord } from "./recorder.ts";
import { during, stopCopy, wake } from "./wake.ts";

export interface RunOptions {
  readonly seed: number;
  /** In virtual time, from the start of the operator or from the change. */
  readonly limitMs: number;
  /** In CPU time of this process, asked now and then; without it there is no such limit. */
  readonly isOutOfCpu?: () => boolean;
  readonly moveBytesPerSecond?: number;
}

export interface ChangeRunOptions extends RunOptions {
  /** There is something to do without the change: the change comes when that is done. */
  readonly restsFirst: boolean;
}

export interface Run {
  readonly record: RunRecord;
  readonly notes: readonly string[];
  /** What the API server and the operator say of the changed resource, and did not say before. */
  readonly findings: readonly string[];
}

export type RunResult =
  | { readonly run: Run }
  | { readonly problems: readonly PictureProblem[] }
  /** The change is not taken, and why. */
  | { readonly refusal: string };

interface Scene {
  readonly notes: readonly string[];
  readonly clock: VirtualClock;
  readonly recorder: Recorder;
  readonly target: ChangeTarget;
  readonly onFindings: (findings: readonly string[]) => void;
}

/** What the operator does without any change, to rest. */
export function runPending(picture: Picture, options: RunOptions): Promise<RunResult> {
  return inCopy(picture, options, ({ clock, recorder }) => untilRest(clock, recorder, options));
}

export function runChange(
  picture: Picture,
  change: Change,
  options: ChangeRunOptions,
): Promise<RunResult> {
  return inCopy(picture, options, async (scene) => {
    const { clock, recorder } = scene;
    const watchedMs = clock.nowMs() + lookMs;
    if (options.restsFirst) await untilRest(clock, recorder, options);
    return changed(scene, change, watchedMs, options);
  });
}

/**
 * Both of them in one copy: what the operator does without the change, to rest, and then with it. A cluster with a lost node
 * may take hours until it rests, so that to do that twice would be most of what a preview costs.
 */
export async function runBoth(
  picture: Picture,
  change: Change,
  options: RunOptions,
): Promise<RunResult & { readonly pending?: Run }> {
  let pending: Run | undefined;
  const result = await inCopy(picture, options, async (scene) => {
    const { clock, recorder, notes } = scene;
    const watchedMs = clock.nowMs() + lookMs;
    const end = await untilRest(clock, recorder, options);
    pending = { record: recorder.record(options.seed, end), notes, findings: [] };
    return changed(scene, change, watchedMs, options);
  });
  return pending === undefined ? result : { ...result, pending };
}

/** The change is made, and the operator works until it rests again. */
async function changed(
  { clock, recorder, target, onFindings }: Scene,
  change: Change,
  watchedMs: number,
  options: RunOptions,
): Promise<RunEnd | { readonly refusal: string }> {
  if (clock.nowMs() < watchedMs) await clock.advance(watchedMs - clock.nowMs());
  recorder.begin();
  const before = recorder.cluster();
  const refusal = await applyChange(change, target);
  const after = recorder.cluster();
  onFindings([...newFindings(before, after), ...standstills(after)]);
  return refusal === undefined ? untilRest(clock, recorder, options) : { refusal };
}

/**
 * An operator that has just started knows less of what processes hold than one that has watched them for ten minutes, and is
 * more careful: the real one has been there for long.
 */
const lookMs = 11 * 60_000;

async function inCopy(
  picture: Picture,
  { seed, moveBytesPerSecond }: RunOptions,
  work: (scene: Scene) => Promise<RunEnd | { readonly refusal: string }>,
): Promise<RunResult> {
  const { namespace = "default", name = "" } = picture.cluster.metadata;
  let recorder: Recorder | undefined;
  let findings: readonly string[] = [];
  const onFindings = (found: readonly string[]): void => {
    findings = found;
  };
  const waking = await wake(picture, {
    seed,
    ...(moveBytesPerSecond === undefined ? {} : { moveBytesPerSecond }),
    onActivity: (activity: Activity) => recorder?.onActivity(activity),
    onRequest: (request) => recorder?.onRequest(request),
  });
  if ("problems" in waking) return waking;
  const { clock, world, notes } = waking.copy;
  recorder = new Recorder({ world, namespace, name });
  await during(clock, world.startOperator().started);
  const target = { world, clock, namespace, name };
  const startedMs = clock.nowMs();
  const end = await work({ notes, clock, recorder, target, onFindings });
  const told = [...windowNotes(recorder.cluster(), startedMs), ...findings];
  const result =
    typeof end === "string"
      ? { run: { record: recorder.record(seed, end), notes, findings: told } }
      : end;
  await stopCopy(clock, world);
  return result;
}

/** When what has to wait for a maintenance window can begin. */
function windowNotes(cluster: FoundationDBCluster | undefined, nowMs: number): string[] {
  if (cluster === undefined) return [];
  const state = windowState({ cluster, nowMs, memory: new PlanMemory() });
  if (state.kind === "open") return [];
  return [`No maintenance window is open, and what needs one waits: ${state.text}.`];
}

function newFindings(
  before: FoundationDBCluster | undefined,
  after: FoundationDBCluster | undefined,
): string[] {
  const known = new Set(findingsOf(before));
  return findingsOf(after).filter((text) => !known.has(text));
}

/** Why the operator does nothing, whatever is changed, or what becomes of it in the end. */
function standstills(cluster: FoundationDBCluster | undefined): string[] {
  if (cluster === undefined) return [];
  const since = cluster.metadata.deletionTimestamp;
  return [
    ...(cluster.spec.skip === true
      ? [
          "spec.skip is true: the operator leaves the cluster alone, and nothing is done until it is false",
        ]
      : []),
    ...(isLeftAlone(cluster)
      ? [
          `the cluster is being deleted since ${since}: the operator leaves it alone, and Kubernetes takes all that belongs to it when its last finalizer is gone`,
        ]
      : []),
    ...(isDeletionHeld(cluster) ? [heldMessage] : []),
  ];
}

function findingsOf(cluster: FoundationDBCluster | undefined): string[] {
  const found = cluster === undefined ? [] : validateDocument(cluster);
  return found
    .filter(({ severity }) => severity !== "note")
    .map(({ field, message, remedy }) => {
      const place = field === "" ? "" : `${field}: `;
      return `${place}${message}${remedy === undefined ? "" : ` (${remedy})`}`;
    });
}

const sampleMs = 1_000;
/** A cluster in order that does nothing for so long rests. */
const restMs = 3 * 60_000;
const minuteMs = 60_000;

/** Lets the operator work in its world, however it ends. */
export async function untilRest(
  clock: VirtualClock,
  recorder: Recorder,
  { limitMs, isOutOfCpu }: Pick<RunOptions, "limitMs" | "isOutOfCpu">,
): Promise<RunEnd> {
  const startedMs = clock.nowMs();
  let end: RunEnd | undefined;
  let sampledMs = startedMs;
  const until = (): boolean => {
    const nowMs = clock.nowMs();
    if (nowMs - sampledMs < sampleMs) return false;
    sampledMs = nowMs;
    recorder.sample();
    const quietMs = nowMs - Math.max(recorder.changedMs, startedMs);
    if (quietMs >= restMs) {
      const cluster = recorder.cluster();
      if (cluster === undefined || isAtRest(cluster)) end = "rested";
      else if (quietMs >= patienceMs(cluster, nowMs - quietMs)) end = "blocked";
    }
    if (isOutOfCpu?.() === true) end ??= "cpu";
    return end !== undefined;
  };
  await clock.run({ until, untilMs: startedMs + limitMs });
  return end ?? "time";
}

/** Nothing is left to do, and nothing is wrong with those that stay. */
function isAtRest(cluster: FoundationDBCluster): boolean {
  const groups = cluster.status?.processGroups ?? [];
  return (
    isReconciled(cluster) &&
    groups.every(
      (group) => isMarkedForRemoval(group) || (group.processGroupConditions ?? []).length === 0,
    )
  );
}

/** Longer than anything that the operator itself waits for before it acts. */
function patienceMs({ spec }: FoundationDBCluster, sinceMs: number): number {
  const { replacements, waitBetweenRemovalsSeconds = 60 } = spec.automationOptions ?? {};
  const seconds = [
    replacements?.failureDetectionTimeSeconds ?? 7_200,
    replacements?.taintReplacementTimeSeconds ?? 1_800,
    spec.minimumUptimeSecondsForBounce ?? 600,
    waitBetweenRemovalsSeconds,
    ((nextOpening(maintenanceWindowsOf(spec), sinceMs)?.atMs ?? sinceMs) - sinceMs) / 1_000,
  ];
  return seconds.reduce((most, one) => Math.max(most, one), 0) * 1_000 + 15 * minuteMs;
}
