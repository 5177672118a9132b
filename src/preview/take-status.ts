// Asks the database for its status through the pods of the cluster: `fdbcli` runs in one after the other until one has
// an answer. Rule PIC2.
import { mainContainerName } from "../build/normalise.ts";
import { conditionIn } from "../kube/condition.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { PodExec } from "../kube/pod-exec.ts";
import type { Stored } from "../kube/resource.ts";

const triesMaximum = 5;
const tryMs = 20_000;
/** A status of 500 processes has about five megabytes. */
const statusBytesMaximum = 64 * 1024 * 1024;

export type StatusAnswer = { status: object; pod: string } | { status: undefined; why: string };

export interface Deadline {
  /** What is left until everything has to be done. */
  leftMs(): number;
}

/** A status of a database that serves wins over one that says that nobody answers. */
export async function takeStatus(
  exec: PodExec,
  pods: readonly Stored<Pod>[],
  deadline: Deadline,
): Promise<StatusAnswer> {
  const candidates = podsToAsk(pods);
  if (candidates.length === 0) return { status: undefined, why: "no pod of the cluster runs" };
  const failures: string[] = [];
  let second: StatusAnswer | undefined;
  for (const pod of candidates) {
    const timeoutMs = Math.min(tryMs, deadline.leftMs());
    if (timeoutMs <= 0) {
      failures.push("there was no time for more tries");
      break;
    }
    const answer = await ask(exec, pod, timeoutMs);
    if (answer.status === undefined) {
      failures.push(answer.why);
      if (answer.isFinal === true) break;
    } else {
      if (isWhole(answer.status)) return answer;
      second ??= answer;
    }
  }
  return second ?? { status: undefined, why: [...new Set(failures)].slice(0, 3).join("; ") };
}

/** Pods that are ready first; of different classes, since what ails one may ail others of its class. */
function podsToAsk(pods: readonly Stored<Pod>[]): Stored<Pod>[] {
  const running = pods.filter(
    ({ metadata, status }) =>
      status?.phase === "Running" && metadata.deletionTimestamp === undefined,
  );
  const isReady = (pod: Stored<Pod>): boolean =>
    conditionIn(pod.status, "Ready")?.status === "True";
  const byClass = new Map<string, number>();
  const ranked = running
    .toSorted((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1))
    .map((pod) => {
      const name = (pod.metadata.name ?? "").replace(/-\d+$/, "");
      const turn = byClass.get(name) ?? 0;
      byClass.set(name, turn + 1);
      return { pod, rank: (isReady(pod) ? 0 : 10_000) + Math.min(turn, 9_999) };
    });
  return ranked
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, triesMaximum)
    .map(({ pod }) => pod);
}

/** What is `isFinal` is so for all pods. */
type Answer = StatusAnswer & { isFinal?: boolean };

async function ask(exec: PodExec, pod: Stored<Pod>, timeoutMs: number): Promise<Answer> {
  const { name = "", namespace = "" } = pod.metadata;
  try {
    const { stdout, stderr, exitCode } = await exec.run({
      ...{ namespace, pod: name, container: mainContainerName, timeoutMs },
      command: ["fdbcli", "--timeout", "10", "--exec", "status json"],
    });
    const status = statusIn(stdout);
    if (status !== undefined) return { status, pod: name };
    const said = (stderr.trim() || stdout.trim()).split("\n")[0]?.slice(0, 200) ?? "";
    return { status: undefined, why: `fdbcli in ${name} ended with ${exitCode}: ${said}` };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    if (error.reason === "Forbidden") {
      const why = "not allowed to run a command in pods (create pods/exec)";
      return { status: undefined, why, isFinal: true };
    }
    return { status: undefined, why: `${name}: ${error.message}` };
  }
}

/** fdbcli may write warnings around the document. */
export function statusIn(text: string): object | undefined {
  if (text.length > statusBytesMaximum) return undefined;
  const [from, to] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (from < 0 || to < from) return undefined;
  try {
    const status: unknown = JSON.parse(text.slice(from, to + 1));
    return isFields(status) && isFields(status["client"]) ? status : undefined;
  } catch {
    // A document that was cut says nothing that can be relied on.
    return undefined;
  }
}

function isWhole(status: unknown): boolean {
  const cluster = isFields(status) ? status["cluster"] : undefined;
  return isFields(cluster) && isFields(cluster["processes"]);
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
