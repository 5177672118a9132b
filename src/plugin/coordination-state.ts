// What coordinators keep on their disks, read and copied in their pods, and the wait for a database that gets it back.
// Rules: spec/plugin.md [PL73], [PL75], [PL77].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { sleep } from "../env/clock.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import type { Stored } from "../kube/resource.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import type { LivingCoordinator } from "./coordinator-addresses.ts";
import { askStatus, clusterFile, mustRunIn, podName } from "./pod-commands.ts";
import { commandErrorOf } from "./read-named.ts";
import type { Session } from "./session.ts";

/** A pod with coordination state, which of its servers it belongs to, and the folder that it lies in. */
export interface StatePlace {
  readonly pod: string;
  readonly server: number;
  readonly folder: string;
}

const dataFolder = "/var/fdb/data";
const files = ["coordination-0.fdq", "coordination-1.fdq"] as const;
const lookEveryMs = 5_000;
const patienceMs = 5 * 60_000;

/** Those of the coordinators' pods that have such files. */
export async function statePlaces(
  session: Session,
  living: readonly LivingCoordinator[],
): Promise<StatePlace[]> {
  const found: StatePlace[] = [];
  for (const { pod, server } of living) {
    const name = podName(pod);
    const command = ["find", dataFolder, "-type", "f", "-name", files[0]];
    const paths = (await mustRunIn(session, name, command)).stdout.trim().split("\n");
    const folder = folderOf(name, paths, server);
    if (folder !== undefined) found.push({ pod: name, server, folder });
  }
  return found;
}

/** Other servers of a pod, and servers before this one, may have left state of an earlier time on the same volume. */
export function folderOf(
  pod: string,
  paths: readonly string[],
  server: number,
): string | undefined {
  const folders = paths.flatMap((path) =>
    path === "" ? [] : [path.slice(0, path.lastIndexOf("/"))],
  );
  const own = folders.filter(
    (folder) => folder === `${dataFolder}/${server}` || (server === 1 && folder === dataFolder),
  );
  if (own.length < 2) return own[0];
  throw new CommandError(
    `${pod} has coordination state in ${own.join(" and in ")}, and nobody can tell which is the present one; nothing was changed`,
  );
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
