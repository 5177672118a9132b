// Asks a database for its status by fdbcli in one of its own pods. A database that cannot be asked is no failure of the
// command: the page says so and shows what Kubernetes knows. Rules: spec/plugin.md [VW4].
import type { FoundationDBCluster } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { mainContainerName } from "../../build/normalise.ts";
import { readableStatus } from "../../fdb/readable-status.ts";
import { conditionIn } from "../../kube/condition.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { PodExec } from "../../kube/pod-exec.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";

export type DatabaseAnswer =
  | { readonly kind: "answered"; readonly status: DatabaseStatus; readonly pod: string }
  | { readonly kind: "silent"; readonly why: string };

/** Pods that are asked one after the other. */
const podsMax = 3;
/** fdbcli itself gives up before the request does, and says why. */
const toolSeconds = 10;
const requestMs = 20_000;
const answerBytesMax = 64 * 2 ** 20;

export async function askDatabase(
  exec: PodExec,
  cluster: Stored<FoundationDBCluster>,
  pods: readonly Stored<Pod>[],
  clusterFile?: string,
): Promise<DatabaseAnswer> {
  const candidates = podsToAsk(cluster, pods).slice(0, podsMax);
  if (candidates.length === 0) {
    return { kind: "silent", why: "none of its pods runs, so that nobody can be asked" };
  }
  let why = "";
  for (const pod of candidates) {
    const answer = await askPod(exec, pod, clusterFile);
    if (typeof answer !== "string") return answer;
    why = `${pod.metadata.name ?? ""}: ${answer}`;
  }
  return { kind: "silent", why };
}

/** Ready ones first, those that go away last. */
export function podsToAsk(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
): Stored<Pod>[] {
  const leaving = new Set(
    (cluster.status?.processGroups ?? [])
      .filter((group) => isMarkedForRemoval(group))
      .map(({ processGroupID }) => processGroupID),
  );
  const idLabel = labelsOf(cluster).processGroupIdLabels[0] ?? "";
  const rank = (pod: Stored<Pod>): number =>
    (conditionIn(pod.status, "Ready")?.status === "True" ? 0 : 2) +
    (leaving.has(pod.metadata.labels?.[idLabel] ?? "") ? 1 : 0);
  return pods
    .filter(isRunning)
    .toSorted((left, right) => rank(left) - rank(right) || (nameOf(left) < nameOf(right) ? -1 : 1));
}

function isRunning({ metadata, status }: Stored<Pod>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const main = status?.containerStatuses?.find(({ name }) => name === mainContainerName);
  return main?.state?.running !== undefined;
}

function nameOf({ metadata }: Stored<Pod>): string {
  return metadata.name ?? "";
}

/** The answer, or in one line why there is none. */
async function askPod(
  exec: PodExec,
  pod: Stored<Pod>,
  clusterFile: string | undefined,
): Promise<DatabaseAnswer | string> {
  const at = clusterFile === undefined ? [] : ["-C", clusterFile];
  const { name = "", namespace = "" } = pod.metadata;
  try {
    const { stdout, stderr, exitCode } = await exec.run({
      ...{ namespace, pod: name, container: mainContainerName, timeoutMs: requestMs },
      command: ["fdbcli", ...at, "--timeout", String(toolSeconds), "--exec", "status json"],
    });
    if (exitCode !== 0) {
      return `fdbcli ended with exit code ${exitCode}${firstLine(stderr || stdout)}`;
    }
    if (stdout.length > answerBytesMax) return "the answer of fdbcli is too long";
    return { kind: "answered", status: readableStatus(parsed(stdout)), pod: name };
  } catch (error) {
    if (isKubeError(error)) {
      return error.reason === "Forbidden" ? "not allowed to run fdbcli in it" : error.message;
    }
    if (error instanceof Error) return error.message;
    throw error;
  }
}

/** Warnings of the tool may stand before the answer. */
function parsed(text: string): unknown {
  const start = text.indexOf("{");
  try {
    return JSON.parse(start < 0 ? "" : text.slice(start));
  } catch {
    throw new Error(`what fdbcli answers is no JSON${firstLine(text)}`);
  }
}

function firstLine(text: string): string {
  const [line] = text.split("\n", 50).filter((one) => one.trim() !== "");
  return line === undefined ? "" : `: ${line.trim().slice(0, 200)}`;
}
