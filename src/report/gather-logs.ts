// Which logs a support bundle holds, and how they are read: the operator's first, then those of pods in trouble, then the
// others, until a limit of lines, bytes, containers or time is met. Rule PIC33.
import { conditionIn } from "../kube/condition.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { LeftOut } from "../preview/picture.ts";

export type LogOwner = "operator" | "pods" | "agents";

export interface LogText {
  readonly owner: LogOwner;
  readonly pod: string;
  readonly container: string;
  /** Of the run before the last restart. */
  readonly isPrevious: boolean;
  readonly text: string;
}

export interface LogLimits {
  /** Of one container. */
  readonly lines: number;
  /** Read until then; aborted requests count as not answered. */
  readonly signal: AbortSignal;
}

interface Target extends Omit<LogText, "text"> {
  readonly namespace: string;
  readonly rank: number;
}

const containersMaximum = 300;
const bytesMaximum = 48 * 1024 * 1024;
const bytesOf: Readonly<Record<LogOwner, number>> = {
  operator: 8 * 1024 * 1024,
  pods: 1024 * 1024,
  agents: 1024 * 1024,
};
const atOnce = 6;

export async function gatherLogs(
  client: KubeClient,
  pods: readonly { readonly owner: LogOwner; readonly pod: Stored<Pod> }[],
  { lines, signal }: LogLimits,
  onProgress: (text: string) => void = () => {},
): Promise<{ logs: LogText[]; left: LeftOut[] }> {
  if (lines === 0) return { logs: [], left: [{ what: "logs", why: "--log-lines is 0" }] };
  const all = pods.flatMap(({ owner, pod }) => targetsOf(owner, pod)).toSorted(byRank);
  const chosen = all.slice(0, containersMaximum);
  const logs: LogText[] = [];
  const left: LeftOut[] = [];
  const silent = pods.flatMap(({ pod }) => notStarted(pod));
  if (silent.length > 0) left.push({ what: `logs of ${listOf(silent)}`, why: "not started" });
  const refused = new Map<string, string[]>();
  let bytes = 0;
  let at = 0;
  while (at < chosen.length && bytes < bytesMaximum && !signal.aborted) {
    onProgress(`logs of containers: ${at} of ${chosen.length}`);
    const batch = chosen.slice(at, at + atOnce);
    const answers = await Promise.all(
      batch.map((target) => readLog(client, target, lines, signal)),
    );
    for (const answer of answers) {
      if ("why" in answer) {
        refused.set(answer.why, [...(refused.get(answer.why) ?? []), nameOf(answer)]);
        continue;
      }
      logs.push(answer);
      bytes += answer.text.length;
      if (answer.text.length >= bytesOf[answer.owner]) {
        left.push({ what: `the end of the log of ${nameOf(answer)}`, why: "it is too long" });
      }
    }
    at += batch.length;
  }
  for (const [why, names] of refused) left.push({ what: `logs of ${listOf(names)}`, why });
  const unread = all.slice(at).map(nameOf);
  if (unread.length > 0) {
    const why = signal.aborted
      ? "there was no time left"
      : `a bundle holds the logs of at most ${containersMaximum} containers and 48 MiB`;
    left.push({ what: `logs of ${listOf(unread)}`, why });
  }
  return { logs, left };
}

/** Containers that have started; those that were started again have a log of the run before. */
function targetsOf(owner: LogOwner, pod: Stored<Pod>): Target[] {
  const { name = "", namespace = "" } = pod.metadata;
  const states = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ];
  const isReady = conditionIn(pod.status, "Ready")?.status === "True";
  return states.flatMap(({ name: container, restartCount, state }) => {
    const isInTrouble = !isReady || restartCount > 0;
    const rank = owner === "operator" ? 0 : isInTrouble ? 1 : 2;
    const target = { owner, namespace, pod: name, container, rank };
    const hasStarted = state?.running !== undefined || state?.terminated !== undefined;
    return [
      ...(hasStarted ? [{ ...target, isPrevious: false }] : []),
      ...(restartCount > 0 ? [{ ...target, isPrevious: true }] : []),
    ];
  });
}

/** Containers that never ran have no log; why is in their pod and its events. */
function notStarted(pod: Stored<Pod>): string[] {
  return (pod.status?.containerStatuses ?? []).flatMap(({ name, restartCount, state }) =>
    restartCount === 0 && state?.waiting !== undefined
      ? [`${pod.metadata.name ?? ""}/${name} (${state.waiting.reason ?? "waiting"})`]
      : [],
  );
}

function byRank(one: Target, other: Target): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  return nameOf(one) < nameOf(other) ? -1 : 1;
}

async function readLog(
  client: KubeClient,
  target: Target,
  lines: number,
  signal: AbortSignal,
): Promise<LogText | (Target & { why: string })> {
  const { owner, namespace, pod, container, isPrevious } = target;
  try {
    const text = await client.podLog(
      { namespace, name: pod },
      {
        ...{ container, tailLines: lines, limitBytes: bytesOf[owner], timestamps: true, signal },
        ...(isPrevious ? { previous: true } : {}),
      },
    );
    return { owner, pod, container, isPrevious, text };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return { ...target, why: error.reason === "Forbidden" ? "not allowed" : error.message };
  }
}

export function nameOf({ pod, container, isPrevious }: Omit<LogText, "text" | "owner">): string {
  return `${pod}/${container}${isPrevious ? " (before its restart)" : ""}`;
}

/** Of many names the first ones, and how many more there are. */
function listOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
