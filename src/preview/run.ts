// One run: a copy is woken, the operator works in it until it rests (what it does until then was pending before the
// change), the change is made, and it works until it rests again, or waits without anything to come, or a limit is
// reached. Rules PV3 to PV5.
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Activity } from "../operate/activity.ts";
import type { VirtualClock } from "../env/virtual-clock.ts";
import { isReconciled } from "../sim/world.ts";
import { applyChange } from "./change.ts";
import type { Change } from "./change.ts";
import type { Picture, PictureProblem } from "./picture.ts";
import { Recorder } from "./recorder.ts";
import type { RunEnd, RunRecord } from "./recorder.ts";
import { during, stopCopy, wake } from "./wake.ts";

export interface RunOptions {
  readonly seed: number;
  /** In virtual time, of each of the two parts. */
  readonly limitMs: number;
  /** In CPU time of this process, asked now and then; without it there is no such limit. */
  readonly isOutOfCpu?: () => boolean;
  readonly moveBytesPerSecond?: number;
}

export interface Run {
  /** What the operator does without the change. */
  readonly pending: RunRecord;
  /** Undefined when the change was refused. */
  readonly changed: RunRecord | undefined;
  readonly refusal: string | undefined;
  readonly notes: readonly string[];
}

export type RunResult = { readonly run: Run } | { readonly problems: readonly PictureProblem[] };

export async function runPreview(
  picture: Picture,
  change: Change,
  options: RunOptions,
): Promise<RunResult> {
  const { seed, moveBytesPerSecond } = options;
  const { namespace = "default", name = "" } = picture.cluster.metadata;
  let recorder: Recorder | undefined;
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
  const pending = recorder.record(seed, await untilRest(clock, recorder, options));
  recorder.begin();
  const refusal = await applyChange(change, { world, clock, namespace, name });
  const changed =
    refusal === undefined
      ? recorder.record(seed, await untilRest(clock, recorder, options))
      : undefined;
  await stopCopy(clock, world);
  return { run: { pending, changed, refusal, notes } };
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
      else if (quietMs >= patienceMs(cluster)) end = "blocked";
    }
    if (isOutOfCpu?.() === true) end ??= "cpu";
    return end !== undefined;
  };
  await clock.run({ until, untilMs: startedMs + limitMs });
  return end ?? "time";
}

function isAtRest(cluster: FoundationDBCluster): boolean {
  const groups = cluster.status?.processGroups ?? [];
  return (
    isReconciled(cluster) && groups.every(({ removalTimestamp }) => removalTimestamp === undefined)
  );
}

/** Longer than anything that the operator itself waits for before it acts. */
function patienceMs({ spec }: FoundationDBCluster): number {
  const { replacements, waitBetweenRemovalsSeconds = 60 } = spec.automationOptions ?? {};
  const seconds = [
    replacements?.failureDetectionTimeSeconds ?? 7_200,
    replacements?.taintReplacementTimeSeconds ?? 1_800,
    spec.minimumUptimeSecondsForBounce ?? 600,
    waitBetweenRemovalsSeconds,
  ];
  return seconds.reduce((most, one) => Math.max(most, one), 0) * 1_000 + 15 * minuteMs;
}
