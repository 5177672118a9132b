// What coordinators keep on their disks, read and copied in their pods, and the wait for a database that gets it back.
// Rules: spec/plugin.md [PL73], [PL75], [PL77].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { sleep } from "../env/clock.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { askStatus, clusterFile, mustRunIn, podName } from "./pod-commands.ts";
import { commandErrorOf } from "./read-named.ts";
import type { Session } from "./session.ts";

/** A pod with coordination state, and the folder that it lies in. */
export interface StatePlace {
  readonly pod: string;
  readonly folder: string;
}

const dataFolder = "/var/fdb/data";
const files = ["coordination-0.fdq", "coordination-1.fdq"] as const;
const lookEveryMs = 5_000;
const patienceMs = 5 * 60_000;

/** Those of the pods that have such files. */
export async function statePlaces(
  session: Session,
  pods: readonly Stored<Pod>[],
): Promise<StatePlace[]> {
  const found: StatePlace[] = [];
  for (const pod of pods.map(podName)) {
    const command = ["find", dataFolder, "-type", "f", "-name", files[0]];
    const [file] = (await mustRunIn(session, pod, command)).stdout.trim().split("\n");
    if (file !== undefined && file !== "")
      found.push({ pod, folder: file.slice(0, file.lastIndexOf("/")) });
  }
  return found;
}

/** Into the folder in which the first server of the pod keeps its data. */
export async function copyState(session: Session, source: StatePlace, pod: string): Promise<void> {
  const { stdout } = await mustRunIn(session, pod, [
    "find",
    dataFolder,
    "-type",
    "f",
    "-name",
    "processId",
  ]);
  const [own] = stdout.trim().split("\n").toSorted();
  const folder =
    own === undefined || own === "" ? source.folder : own.slice(0, own.lastIndexOf("/"));
  for (const file of files) {
    const { stdoutBytes } = await mustRunIn(session, source.pod, [
      "cat",
      `${source.folder}/${file}`,
    ]);
    await mustRunIn(session, pod, ["tee", `${folder}/${file}`], stdoutBytes);
  }
}

/** Runs what is done while the operator is held off. What ends it half-way is told with how to go on. */
export async function heldOff<T>(
  { server }: Session,
  name: string,
  goOn: () => string,
  body: () => Promise<T>,
): Promise<T> {
  try {
    return await body();
  } catch (error) {
    const told = isKubeError(error) ? commandErrorOf(error, server) : error;
    if (!(told instanceof CommandError)) throw error;
    throw new CommandError(`${told.message}; spec.skip of ${name} is still true: ${goOn()}`);
  }
}

/** Undefined when nothing was told for so long that it is no use to wait on; silence never means that it is so. */
export async function untilStatus(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
  isSo: (status: DatabaseStatus) => boolean,
  otherwise: string,
  silenceMaxMs = Infinity,
): Promise<DatabaseStatus | undefined> {
  const { clock } = session;
  const beganMs = clock.nowMs();
  let toldMs = beganMs;
  let why = "";
  while (clock.nowMs() - beganMs < patienceMs) {
    const asked = await askStatus(session, cluster, clusterFile);
    if (typeof asked !== "string" && isSo(asked.status)) return asked.status;
    if (typeof asked !== "string") toldMs = clock.nowMs();
    why = typeof asked === "string" ? ` (${asked})` : "";
    if (clock.nowMs() - toldMs >= silenceMaxMs) return undefined;
    await sleep(clock, lookEveryMs);
  }
  throw new CommandError(`after ${patienceMs / 60_000} minutes ${otherwise}${why}`);
}
