// How a command pod stands: its end is that of its main container, since others that somebody put beside it may live on.
// Rules: spec/backup.md [BK40].
import { conditionIn } from "../../kube/condition.ts";
import { commandIdentity } from "../../build/command-pod.ts";
import { withoutSecrets } from "../../build/backup-url.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { BackupSnapshot } from "./snapshot.ts";

export interface CommandEnd {
  readonly pod: Stored<Pod>;
  readonly attempt: number;
  /** By our own clock. */
  readonly endedMs: number;
  readonly isSuccess: boolean;
  /** Undefined when the pod was ended before its program was. */
  readonly exitCode: number | undefined;
  /** Its pod was ended before the program began: an image, a Secret or a volume was missing. */
  readonly isUnbegun: boolean;
  /** What the program last said, without secrets; or what Kubernetes says of the pod. */
  readonly message: string;
}

type Clocks = Pick<BackupSnapshot, "nowMs" | "serverAheadMs">;

/** Undefined while it runs. */
export function commandEnd(
  snapshot: Clocks,
  pod: Stored<Pod>,
  containerName = mainContainerName,
): CommandEnd | undefined {
  const { attempt } = commandIdentity(pod);
  const main = pod.status?.containerStatuses?.find(({ name }) => name === containerName);
  const terminated = main?.state?.terminated;
  // What its deadline ended, the kubelet killed.
  if (terminated !== undefined && pod.status?.reason !== "DeadlineExceeded") {
    const { exitCode, finishedAt, message = "", reason = "" } = terminated;
    const endedMs = ownTimeMs(snapshot, finishedAt) ?? snapshot.nowMs;
    const text = withoutSecrets(message.trim() || reason);
    const isSuccess = exitCode === 0;
    return { pod, attempt, endedMs, isSuccess, exitCode, isUnbegun: false, message: text };
  }
  const phase = pod.status?.phase;
  if (phase !== "Failed" && phase !== "Succeeded") return undefined;
  const { reason = "", message = "" } = pod.status ?? {};
  const endedMs = podEndMs(snapshot, pod);
  const text = withoutSecrets([reason, message].filter((part) => part !== "").join(": "));
  const isUnbegun =
    main?.state?.waiting !== undefined || (terminated && !terminated.startedAt) === true;
  return { pod, attempt, endedMs, isSuccess: false, exitCode: undefined, isUnbegun, message: text };
}

/** A pod that its deadline ended tells no time of its own. */
function podEndMs(snapshot: Clocks, { metadata, status }: Stored<Pod>): number {
  const ready = conditionIn(status, "Ready")?.lastTransitionTime;
  return (
    ownTimeMs(snapshot, ready) ??
    ownTimeMs(snapshot, status?.startTime ?? metadata.creationTimestamp) ??
    snapshot.nowMs
  );
}
