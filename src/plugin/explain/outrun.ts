// The operator writes its status seldom and tells its acts at once, so that an event may contradict a wait that was written
// before it: then both are told, with their times. Pure. Rules: spec/explain.md [E61].
import type { ObjectMeta } from "../../kube/generated/types.ts";
import { mostOf } from "../../env/long-lists.ts";
import { formatTime, parseTime } from "../../kube/time.ts";
import type { ToldEvent } from "./objects.ts";

export interface Outrun extends Pick<ToldEvent, "at" | "message" | "reason"> {
  /** When the status was written. */
  readonly writtenAt: string;
}

/** The last act that was told since the status was written; undefined where there is none, or nobody knows. */
export function outrunBy(
  { managedFields = [] }: ObjectMeta,
  recent: readonly ToldEvent[],
): Outrun | undefined {
  const writes = managedFields
    .filter(({ subresource }) => subresource === "status")
    .map(({ time }) => parseTime(time) ?? 0);
  const writtenMs = mostOf(writes, 0);
  if (writtenMs === 0) return undefined;
  const act = recent.find(({ type, at }) => type === "Normal" && (parseTime(at) ?? 0) > writtenMs);
  if (act === undefined) return undefined;
  const { at, reason, message } = act;
  return { writtenAt: formatTime(writtenMs), at, reason, message };
}
