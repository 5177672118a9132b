// Restores are answered, not ignored: a condition and a Warning event say that nothing will happen.
// Rules: spec/operate.md [OP50].
import { foundationDbRestores } from "../api/restore.ts";
import type { Condition } from "../api/cluster.ts";
import type { Clock } from "../env/clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { parseKeyText } from "../kube/path.ts";
import type { WorkOutcome } from "../kube/queue.ts";
import { formatTime } from "../kube/time.ts";
import type { Caches } from "./caches.ts";

export const notImplementedReason = "NotImplemented";

export interface UnimplementedOptions {
  client: KubeClient;
  caches: Caches;
  recorder: EventRecorder;
  clock: Clock;
}

export async function answerRestore(
  options: UnimplementedOptions,
  key: string,
): Promise<WorkOutcome> {
  const resource = foundationDbRestores;
  const cache = options.caches.restores;
  const object = cache.get(parseKeyText(key));
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return {};
  const generation = object.metadata.generation ?? 0;
  const conditions = object.status?.conditions ?? [];
  const before = conditions.find((condition) => condition.type === "Reconciled");
  const isAnswered = before?.reason === notImplementedReason;
  if (isAnswered && before.observedGeneration === generation) return {};
  const message = `This operator does not handle ${resource.kind} resources: nothing is done for it`;
  const condition: Condition = {
    type: "Reconciled",
    status: "False",
    reason: notImplementedReason,
    message,
    observedGeneration: generation,
    lastTransitionTime:
      before?.status === "False" ? before.lastTransitionTime : formatTime(options.clock.nowMs()),
  };
  const others = conditions.filter((each) => each.type !== "Reconciled");
  const status = { ...object.status, conditions: [...others, condition] };
  try {
    cache.observeWrite(await options.client.updateStatus(resource, { ...object, status }));
  } catch (error) {
    if (isKubeError(error, "Conflict")) return { againAfterMs: 250 };
    throw error;
  }
  options.recorder.record(object, "Warning", notImplementedReason, message);
  return {};
}
