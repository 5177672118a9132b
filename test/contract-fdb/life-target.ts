// A database cluster under an operator on the emulated Kubernetes, which the cases of its life change and disturb. The
// database is a simulated one or one of real fdbservers; the cases do not know which.
import { conditionIn } from "../../src/kube/condition.ts";
import assert from "node:assert/strict";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Activity } from "../../src/operate/activity.ts";
import type { World } from "../../src/sim/world.ts";
import type { LifeData } from "./life-data.ts";

/** A bucket for backups. */
export interface LifeStore {
  readonly accountName: string;
  readonly bucket: string;
  readonly urlParameters: readonly string[];
  /** The file with the account's secret. */
  readonly credentials: string;
  /** Objects whose keys are so are gone; gives how many. */
  lose(isLost: (key: string) => boolean): number;
}

export interface LifeTarget {
  readonly world: World;
  /** Undefined where there is no S3 server, or no backup tools. */
  readonly store: LifeStore | undefined;
  /** Of a person who looks at the database, not of the operator. */
  readonly admin: AdminClient;
  /** That person takes the connection string of the resource: where all coordinators have moved nobody can follow them. */
  readonly reopen: () => Promise<void>;
  /** The same of another cluster, once that was created. */
  readonly open: (clusterName: string) => Promise<AdminClient>;
  readonly data: LifeData;
  readonly activities: readonly Activity[];
  /** The fdbservers of a pod die at once; the pod itself stays. */
  readonly killServers: (podName: string) => void;
  /** The fdbservers of these pods die, and cannot be started until the answer is called. */
  readonly holdDown: (podNames: readonly string[]) => () => void;
  /** Ends the clients of the operator behind its back; undefined where they are no processes. */
  readonly crashClients: (() => void) | undefined;
  /** The operator dies in whatever it does, and another one takes its place. */
  readonly killOperator: () => Promise<void>;
  /** A real database that recovers before it has heard of all its processes does so once or twice more by itself. */
  readonly mostRecoveriesOfOneKill: number;
  readonly finish: <T>(operation: Promise<T>) => Promise<T>;
  readonly pass: (seconds: number) => Promise<void>;
}

export interface LifeCase {
  /** Starts with the ids of its rules in spec/real-database.md. */
  readonly title: string;
  readonly needs?: "client-process" | "object-store";
  /** It has a life of its own, which begins so; the others share one. */
  readonly beginning?: LifeBeginning;
  /** Gives what it measured, for a person who reads the proof. */
  readonly run: (target: LifeTarget) => Promise<void | readonly string[]>;
}

export interface LifeBeginning {
  /** From the spec of the sample. */
  readonly specOf: (sample: ClusterSpec) => ClusterSpec;
  /** Of the emulated Kubernetes, over four zones; 8 when absent. */
  readonly nodes?: number;
}

export const lifeKey = { namespace: "default", name: "local" };
/** Nothing waits that long unless something is wrong. */
const patienceSeconds = 300;
const callMs = 60_000;

export function clusterOf({ world }: LifeTarget): Promise<Stored<FoundationDBCluster>> {
  return world.client.get(foundationDbClusters, lifeKey);
}

/** Of the same database: one, or one for each of its datacenters. */
export async function resourcesOf(target: LifeTarget): Promise<Stored<FoundationDBCluster>[]> {
  const { status: own } = await clusterOf(target);
  const { namespace } = lifeKey;
  const { items } = await target.world.client.list(foundationDbClusters, { namespace });
  return items.filter(({ status }) => status?.connectionString === own?.connectionString);
}

export async function changeSpec(
  target: LifeTarget,
  change: Partial<ClusterSpec>,
  name = lifeKey.name,
): Promise<void> {
  const [key, body] = [{ ...lifeKey, name }, { spec: change }];
  await target.world.client.patch(foundationDbClusters, key, body, { type: "merge" });
}

export async function podsOf(target: LifeTarget, processClass?: string): Promise<Stored<Pod>[]> {
  const labelSelector =
    processClass === undefined
      ? "foundationdb.org/fdb-process-group-id"
      : `foundationdb.org/fdb-process-class=${processClass}`;
  const { namespace } = lifeKey;
  return (await target.world.client.list(pods, { namespace, labelSelector })).items;
}

/** Names, in the order of the connection string. */
export async function coordinatorPods(target: LifeTarget): Promise<string[]> {
  const { status } = await clusterOf(target);
  const all = await podsOf(target);
  const addresses = (status?.connectionString ?? "").split("@")[1]?.split(",") ?? [];
  return addresses.flatMap((address) => {
    const ip = address.split(":")[0];
    const pod = all.find(({ status: found }) => found?.podIP === ip);
    return pod?.metadata.name ?? [];
  });
}

export function statusOf(target: LifeTarget): Promise<DatabaseStatus> {
  return target.finish(target.admin.status(callMs));
}

export function processesOf(status: DatabaseStatus): StatusProcess[] {
  return Object.values(status.cluster?.processes ?? {});
}

export async function until(
  target: LifeTarget,
  what: string | (() => string),
  isSo: () => Promise<boolean>,
  seconds = patienceSeconds,
): Promise<void> {
  const endMs = target.world.clock.nowMs() + seconds * 1000;
  while (!(await isSo())) {
    if (target.world.clock.nowMs() > endMs) {
      const words = typeof what === "string" ? what : what();
      assert.fail(`not so after ${seconds} s: ${words}\n${await report(target)}`);
    }
    await target.pass(1);
  }
}

/** The operator has nothing left to do, and the database is healthy with exactly the processes that are wanted. */
export async function untilAtRest(
  target: LifeTarget,
  look: (status: DatabaseStatus) => void = () => {},
  seconds = patienceSeconds,
): Promise<DatabaseStatus> {
  let last: DatabaseStatus = {};
  await until(
    target,
    "the cluster is at rest",
    async () => {
      const answer = await statusOf(target).catch(() => undefined);
      if (answer === undefined) return false;
      look(answer);
      const clusters = await resourcesOf(target);
      if (!clusters.every(isSettled)) return false;
      const groups = clusters.flatMap(({ status }) => status?.processGroups ?? []);
      last = answer;
      return isHealthy(answer) && processesOf(answer).length === groups.length;
    },
    seconds,
  );
  return last;
}

function isSettled({ metadata, status }: Stored<FoundationDBCluster>): boolean {
  return (
    status?.generations?.reconciled === metadata.generation &&
    conditionIn(status, "Reconciled")?.status === "True" &&
    (status?.processGroups ?? []).every(
      ({ processGroupConditions: found = [] }) => found.length === 0,
    )
  );
}

/** As untilAtRest, and at every look on the way all data has at least so many copies. */
export async function untilAtRestWithCopies(
  target: LifeTarget,
  copies: number,
): Promise<DatabaseStatus> {
  return untilAtRest(target, (status) => {
    const { name, min_replicas_remaining: fewest = copies } = status.cluster?.data?.state ?? {};
    assert.ok(fewest >= copies, `data ${name} with ${fewest} copies`);
  });
}

export function isHealthy({ client, cluster }: DatabaseStatus): boolean {
  return (
    client?.database_status?.available === true &&
    client.database_status.healthy &&
    cluster?.data?.state?.name?.startsWith("healthy") === true &&
    !(cluster.messages ?? []).some(({ name }) => name.startsWith("status_incomplete"))
  );
}

/** What the operator did to the database since a mark, which is an earlier length of its activities. */
export function actionsSince({ activities }: LifeTarget, mark: number): string[] {
  return activities
    .slice(mark)
    .flatMap((activity) =>
      activity.type === "action" && activity.error === undefined ? [activity.action.type] : [],
    );
}

/** The same with what failed: a command that was given up may have been carried out. */
export function attemptsSince({ activities }: LifeTarget, mark: number): string[] {
  return activities
    .slice(mark)
    .flatMap((activity) => (activity.type === "action" ? [activity.action.type] : []));
}

/** Why the cluster is as it is, for a person who reads a failure. */
async function report(target: LifeTarget): Promise<string> {
  const database = await statusOf(target).catch((error: unknown) => String(error));
  const { namespace } = lifeKey;
  const { items } = await target.world.client.list(foundationDbClusters, { namespace });
  const done = target.activities
    .slice(-25)
    .flatMap((each) =>
      each.type === "action" ? [`  | ${each.text} ${each.error ?? ""}`.slice(0, 300)] : [],
    );
  return [
    ...items.flatMap(resourceLines),
    ...done,
    typeof database === "string" ? database : databaseText(database),
  ].join("\n");
}

function resourceLines({ metadata, status }: Stored<FoundationDBCluster>): string[] {
  const groups = (status?.processGroups ?? []).map(
    ({ processGroupID, processGroupConditions: found = [], removalTimestamp = "" }) =>
      `  ${processGroupID} ${removalTimestamp} ${found.map(({ type }) => type).join(", ")}`,
  );
  return [
    `${metadata.name}: generation ${metadata.generation}, ${JSON.stringify(status?.generations)}`,
    ...(status?.conditions ?? []).map(({ type, status: value, message }) =>
      `  ${type}=${value}: ${message}`.slice(0, 300),
    ),
    ...(status?.blockedBy ?? []).map(({ step, reason, message }) =>
      `  blocked in ${step} by ${reason}: ${message}`.slice(0, 300),
    ),
    ...groups,
  ];
}

function databaseText(status: DatabaseStatus): string {
  const { client, cluster } = status;
  const { available, healthy } = client?.database_status ?? {};
  const messages = (cluster?.messages ?? []).map(({ name }) => name).join(", ");
  const primary = cluster?.active_primary_dc ?? "";
  const count = processesOf(status).length;
  return `database: available ${available}, healthy ${healthy}, data ${cluster?.data?.state?.name}, ${count} processes, primary ${primary}, recovery ${cluster?.recovery_state?.name}, messages ${messages}`;
}
