// Commands in the pods of a cluster, and the database's own status by fdbcli in one of them. Rules: spec/plugin.md [PL60]-[PL62].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { mainContainerName } from "../build/normalise.ts";
import { CommandError } from "../env/command-error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { PodExecResult } from "../kube/pod-exec.ts";
import type { Stored } from "../kube/resource.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { askDatabase } from "./database/ask-database.ts";
import { podsOf } from "./read-selection.ts";
import type { Session } from "./session.ts";

/** Where the servers of a pod keep the connection string that they use. */
export const clusterFile = "/var/fdb/data/fdb.cluster";
const commandTimeoutMs = 60_000;

export function isRunning({ metadata, status }: Stored<Pod>): boolean {
  return status?.phase === "Running" && metadata.deletionTimestamp === undefined;
}

/** In the order of their names. */
export async function runningPods(
  session: Session,
  cluster: FoundationDBCluster,
): Promise<Stored<Pod>[]> {
  return (await podsOf(session, cluster)).filter(isRunning);
}

export function runIn(
  { exec, namespace }: Session,
  pod: string,
  command: readonly string[],
  stdin?: Uint8Array,
): Promise<PodExecResult> {
  return exec.run({
    ...{ namespace, pod, container: mainContainerName, command, timeoutMs: commandTimeoutMs },
    ...(stdin === undefined ? {} : { stdin }),
  });
}

/** Throws when the command ends with another exit code than 0. */
export async function mustRunIn(
  session: Session,
  pod: string,
  command: readonly string[],
  stdin?: Uint8Array,
): Promise<PodExecResult> {
  const result = await runIn(session, pod, command, stdin);
  if (result.exitCode === 0) return result;
  const said = (result.stderr || result.stdout).trim().split("\n")[0] ?? "";
  throw new CommandError(`${command[0]} in pod ${pod} ended with ${result.exitCode}: ${said}`);
}

export interface AskedStatus {
  readonly pod: string;
  readonly status: DatabaseStatus;
}

/** What fdbcli tells in one of the cluster's pods, or why it tells nothing. */
export async function askStatus(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
  file?: string,
): Promise<AskedStatus | string> {
  const answer = await askDatabase(session.exec, cluster, await podsOf(session, cluster), file);
  return answer.kind === "silent" ? answer.why : answer;
}

export function podName({ metadata }: Stored<Pod>): string {
  return metadata.name ?? "";
}
