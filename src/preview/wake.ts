// Makes a copy of the world of a picture: an emulated Kubernetes with the objects as they are, whose kubelets take the
// running pods over, and a simulated database that says of itself what the real one said. Nobody acts in it until the
// operator is started. Rules PV2 and PV3.
import { operatorNamespaceIn } from "../build/network-policy.ts";
import type { ApiServer } from "../emulator/api-server.ts";
import { defaultKubeletOptions } from "../emulator/kubelet-core.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { readableStatus } from "../fdb/readable-status.ts";
import { standardImages } from "../images/standard-images.ts";
import type { RequestRecord } from "../kube/client.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import { networkPolicies, storageClasses } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { isIpAddress, parseAddress } from "../model/address.ts";
import { coordinatorsOf } from "../model/connection-string.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { dnsNameOf, localityKeys } from "../model/locality.ts";
import type { Activity } from "../operate/activity.ts";
import type { OperatorOptions } from "../operate/operator.ts";
import { createLocalCluster } from "../sim/database/local-cluster.ts";
import { createGround } from "../sim/ground.ts";
import type { Ground } from "../sim/ground.ts";
import { standardStorageClass } from "../sim/standard-storage.ts";
import { startWorldOn } from "../sim/world.ts";
import type { World } from "../sim/world.ts";
import type { Picture, PictureProblem } from "./picture.ts";
import { resourceOfObject, stageOf } from "./stage.ts";
import type { Stage } from "./stage.ts";

export interface WakeOptions {
  readonly seed: number;
  readonly operator?: OperatorOptions;
  /** Of one relocation. */
  readonly moveBytesPerSecond?: number;
  readonly onActivity?: (activity: Activity) => void;
  readonly onRequest?: (record: RequestRecord) => void;
}

export interface Copy {
  readonly clock: VirtualClock;
  readonly world: World;
  /** How it differs from what was pictured. */
  readonly notes: readonly string[];
}

export type Waking = { readonly copy: Copy } | { readonly problems: readonly PictureProblem[] };

/** A picture may come from a simulated world: the copy must not draw the ids that its processes have. */
const seedOffset = 1_000_000_007;

/** Pods are found again within seconds; a copy that takes longer is none. */
const wakeMs = 120_000;
/** What the programs in the pods say of themselves comes a little later. */
const settleMs = 15_000;

export async function wake(picture: Picture, options: WakeOptions): Promise<Waking> {
  const stage = stageOf(picture);
  const imageProblems = unknownImages(picture.objects);
  if (imageProblems.length > 0) return { problems: imageProblems };
  const clock = new VirtualClock(Date.parse(picture.takenAt));
  const { seed, moveBytesPerSecond } = options;
  const timings = moveBytesPerSecond === undefined ? {} : { moveBytesPerSecond };
  const { newcomersFirst, containerStartMs } = chancesOf(seed);
  const ground = createGround({
    clock,
    seed: seedOffset + seed,
    database: { timings, newcomersFirst },
  });
  const database = wakeDatabase(picture, (status) => ground.fdb.wake(status));
  if (database.problems.length > 0) return { problems: database.problems };
  const { operator, onActivity, onRequest } = options;
  // A picture holds no certificate: what the status says of them stands.
  ground.network.shownAt = () => undefined;
  const world = startWorldOn(ground, {
    ...{ nodes: stage.machines, addressBlock: stage.addressBlock, isOperatorHeld: true },
    ...{ operator: inItsNamespace(operator, stage), onActivity, onRequest },
    kubelet: { dnsDomain: stage.dnsDomain, runningPods: stage.runningPods, containerStartMs },
    prepare: (server) => restoreAll(server, stage.ground),
  });
  await during(clock, world.started);
  await keepOwnClasses(clock, world, stage);
  const outside = startOutsiders(ground, stage, picture);
  if (outside.homeless.length > 0) {
    await stopCopy(clock, world);
    return { problems: outside.homeless.map(missingProcess) };
  }
  restoreAll(world.server, stage.objects);
  const untilMs = clock.nowMs() + wakeMs;
  await clock.run({ until: () => world.fdb.awaited().length === 0, untilMs });
  await clock.advance(settleMs);
  const missing = world.fdb.awaited();
  if (missing.length > 0) {
    await stopCopy(clock, world);
    const nameless = unknownNames(ground, picture);
    if (nameless.length > 0) return { problems: nameless };
    return { problems: missing.map(({ address }) => lostProcess(address)) };
  }
  const notes = [...stage.notes, ...database.notes, ...outside.notes];
  return { copy: { clock, world, notes } };
}

/** As the network policy of the cluster has it, which would otherwise be changed in the copy alone. */
function inItsNamespace(
  operator: OperatorOptions | undefined,
  { objects }: Stage,
): OperatorOptions {
  const policy = objects.find(({ kind }) => kind === networkPolicies.kind);
  const operatorNamespace = policy === undefined ? undefined : operatorNamespaceIn(policy);
  return {
    ...operator,
    plan: { ...(operatorNamespace && { operatorNamespace }), ...operator?.plan },
  };
}

interface Chances {
  /** Who of equal processes gets a role. */
  readonly newcomersFirst: boolean;
  readonly containerStartMs: { readonly min: number; readonly max: number };
}

/**
 * What hangs on chance in the real world, and decides how many recoveries there are: the runs with the first seeds show the
 * ends of it, so that few runs tell most of what can happen.
 */
function chancesOf(seed: number): Chances {
  const newcomersFirst = seed % 2 === 0;
  const { containerStartMs: usual } = defaultKubeletOptions;
  if (seed % 3 === 1) return { newcomersFirst, containerStartMs: usual };
  const areTogether = seed % 3 === 0;
  const max = areTogether ? usual.min : 8 * usual.max;
  return { newcomersFirst, containerStartMs: { min: usual.min, max } };
}

/** Lets time pass until something is done. */
export async function during<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = (): void => {
    isDone = true;
  };
  promise.then(done, done);
  await clock.run({ until: () => isDone, untilMs: clock.nowMs() + wakeMs });
  return promise;
}

export async function stopCopy(clock: VirtualClock, world: World): Promise<void> {
  await during(clock, world.stop());
}

function missingProcess(address: string): PictureProblem {
  return {
    field: "databaseStatus.cluster.processes",
    value: address,
    remedy:
      "no pod of the picture starts a process at this address: take the pods and the status at the same time",
  };
}

function lostProcess(address: string): PictureProblem {
  return {
    field: "databaseStatus.cluster.processes",
    value: address,
    remedy:
      "its process does not join the database in the copy: take the pods, the config map and the status at the same time",
  };
}

function unknownImages(objects: readonly KubeObject[]): PictureProblem[] {
  const catalogue = standardImages();
  const pods = objects.filter(({ kind }) => kind === "Pod") as Stored<Pod>[];
  const images = pods.flatMap(({ spec }) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image = "" }) => image),
  );
  return [...new Set(images)]
    .toSorted()
    .filter((image) => catalogue.find(image) === undefined)
    .map((value) => ({
      ...{ field: "objects[kind=Pod].spec.containers.image", value },
      remedy:
        "only images named fdb-kubernetes-monitor, foundationdb and foundationdb-kubernetes-sidecar with the version as tag are simulated",
    }));
}

interface DatabaseWaking {
  readonly problems: readonly PictureProblem[];
  readonly notes: readonly string[];
}

function wakeDatabase(
  { databaseStatus, cluster }: Picture,
  wakeFrom: (status: DatabaseStatus) => DatabaseWaking,
): DatabaseWaking {
  if (databaseStatus !== undefined) {
    try {
      return wakeFrom(readableStatus(databaseStatus));
    } catch (error) {
      const value = error instanceof Error ? error.message : String(error);
      const remedy = "give the output of `status json` as it is";
      return { problems: [{ field: "databaseStatus", value, remedy }], notes: [] };
    }
  }
  const isNew = (cluster.status?.connectionString ?? "") === "";
  if (isNew) return { problems: [], notes: [] };
  const remedy = "give the output of `status json` of the database, taken while it is available";
  return { problems: [{ field: "databaseStatus", value: "missing", remedy }], notes: [] };
}

function restoreAll(server: ApiServer, objects: readonly KubeObject[]): void {
  const { store } = server.context;
  for (const object of objects) {
    const resource = resourceOfObject(object);
    const { namespace = "", name = "" } = object.metadata;
    if (resource === undefined) continue;
    store.restore(`${resource.group}/${resource.plural}`, namespace, name, { ...object });
  }
}

/** A picture with storage classes has no others. */
async function keepOwnClasses(
  clock: VirtualClock,
  world: World,
  { objects }: Stage,
): Promise<void> {
  const own = objects.filter(({ kind }) => kind === storageClasses.kind);
  const { name = "" } = standardStorageClass.metadata;
  if (own.length === 0 || own.some(({ metadata }) => metadata.name === name)) return;
  await during(clock, world.client.delete(storageClasses, { name }));
}

interface Outsiders {
  /** Addresses of processes that this cluster should run and no pod does. */
  readonly homeless: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Processes of the database that other Kubernetes clusters run: they are there under their addresses and names, and nobody
 * looks after them here.
 */
function startOutsiders(
  { clock, fdb, network }: Ground,
  { addresses }: Stage,
  { databaseStatus, cluster: { status } }: Picture,
): Outsiders {
  const { cluster } = (databaseStatus ?? {}) as DatabaseStatus;
  const own = new Set((status?.processGroups ?? []).map(({ processGroupID }) => processGroupID));
  const homeless: string[] = [];
  const outside = createLocalCluster(clock, fdb, cluster?.connection_string ?? "");
  let count = 0;
  for (const process of fdb.awaited()) {
    const { processId, address, processClass, localities, version } = process;
    const host = process.endpoint.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
    if (addresses.has(host)) continue;
    if (own.has(localities["instance_id"] ?? "")) {
      homeless.push(address);
      continue;
    }
    const { processid: _own, ...given } = localities;
    const { [localityKeys.dnsName]: hostName = "" } = localities;
    if (hostName !== "") network.setHostName(hostName, [host]);
    outside.start({ name: processId, processClass, address, localities: given, version });
    count += 1;
  }
  const note = `${count} ${count === 1 ? "process of the database runs" : "processes of the database run"} in other Kubernetes clusters: they are in the copy as they are, and the operators that look after them are not. What has to be done in those clusters, too, is waited for`;
  return { homeless, notes: count === 0 ? [] : [note] };
}

/** Coordinators of other Kubernetes clusters are found by the names that their processes report. */
function unknownNames({ network }: Ground, { databaseStatus }: Picture): PictureProblem[] {
  const { cluster } = (databaseStatus ?? {}) as DatabaseStatus;
  const reported = new Set(Object.values(cluster?.processes ?? {}).map(dnsNameOf));
  return coordinatorsOf(cluster?.connection_string ?? "")
    .filter((address) => {
      const parsed = parseAddress(address);
      if (!parsed.ok || isIpAddress(parsed.value)) return false;
      const { host } = parsed.value;
      return !reported.has(host) && network.resolve(host) === undefined;
    })
    .map((value) => ({
      ...{ field: "databaseStatus.cluster.connection_string", value },
      remedy:
        "no pod of the picture and no process of the status has this name: take the status when every process reports its dns_name, or the picture of a cluster whose file has addresses",
    }));
}
