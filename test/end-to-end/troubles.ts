// What goes wrong around an operator that itself lives on: the API server is away, somebody takes its Lease, its client
// processes are killed, the database is down. A change is under way each time, and must be finished by itself.
// All of that without a look at nodes. Rules: spec/run.md [RUN12], [RUN23], [RUN25]-[RUN27].
import { conditionIn } from "../../src/kube/condition.ts";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { FdbTransaction } from "../../src/fdb/admin.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { defaultLeaseName } from "../../src/kube/lease.ts";
import { leases, nodes, pods } from "../../src/kube/resource.ts";
import { formatMicroTime } from "../../src/kube/time.ts";
import { connectSimulated } from "../../src/sim/remote/remote-databases.ts";
import { install, operatorNamespace as namespace, operatorUser } from "./installation.ts";
import { startNodes, startOperator } from "./programs.ts";
import type { Program } from "./programs.ts";
import {
  assertSameVolumes,
  haste,
  sampleCluster,
  storageVolumes,
  untilReconciled,
} from "./sample-cluster.ts";
import type { EndToEnd } from "./scenario.ts";

const clock = machineClock();
/** The one that changes, and one that must not notice anything. */
const [busy, calm] = ["busy", "calm"];

interface Stage extends EndToEnd {
  /** The nodes and the databases on them. */
  readonly machines: Program & { readonly databasePort: number };
  readonly operator: Program;
  /** When the API server came back: for a moment it knows no rights of anybody. */
  readonly restart: { fromMs: number; toMs: number };
}

export async function liveThroughTroubles(world: EndToEnd): Promise<void> {
  const token = await install(world, ["nodeAccess=false"]);
  const machines = await startNodes(world, { nodes: 8, zones: 4, seed: 2 });
  const operator = startOperator(world, {
    ...{ token, namespace, databasePort: machines.databasePort, flags: haste },
    program: "test/end-to-end/operator-process.ts",
  });
  const stage: Stage = { ...world, machines, operator, restart: { fromMs: 0, toMs: 0 } };
  for (const name of [busy, calm]) {
    await world.client.create(foundationDbClusters, sampleCluster(name));
  }
  for (const name of [busy, calm]) await untilReconciled(world, name, "creation", operator);
  const data = await writeData(stage);
  const untouched = await portrait(stage);
  const troubles: [string, () => Promise<void>][] = [
    ["the API server is away for half a minute", () => withoutApiServer(stage)],
    ["the Lease is taken away", () => withoutLease(stage)],
    ["client processes are killed", () => withoutClients(stage)],
    ["the database is down", () => withoutDatabase(stage)],
  ];
  for (const [title, happens] of troubles) {
    const startedMs = clock.nowMs();
    await happens();
    assert.deepEqual(await portrait(stage), untouched, `the other cluster, after: ${title}`);
    world.say(`${title}: ${Math.round((clock.nowMs() - startedMs) / 1000)} s`);
  }
  assert.deepEqual(await readData(stage), data, "what was written before is there");
  checkRights(stage);
  operator.kill("SIGTERM");
  assert.equal(await operator.ended, 0, operator.lines.slice(-5).join("\n"));
}

/** [RUN12] Nodes are not looked at since that is not allowed; what is allowed is known without trying. */
function checkRights({ controlPlane, operator, restart }: Stage): void {
  const [told] = linesOf(operator).filter(({ message }) => message === "nodes are not looked at");
  assert.equal(told?.["reason"], "it is not allowed");
  const forbidden = controlPlane
    .audited(operatorUser)
    .filter(({ code, atMs }) => code === 403 && (atMs < restart.fromMs || atMs > restart.toMs))
    .map(({ verb, resource }) => `${verb} ${resource}`);
  assert.deepEqual(forbidden, []);
}

/** A person's data in the busy database. */
async function writeData(stage: Stage): Promise<string[]> {
  const values = Array.from({ length: 50 }, (_, index) => `value ${index}`);
  await withData(stage, async (transaction) => {
    for (const [index, value] of values.entries()) {
      transaction.set(Buffer.from(`key ${index}`), Buffer.from(value));
    }
  });
  return values;
}

async function readData(stage: Stage): Promise<string[]> {
  return withData(stage, async (transaction) => {
    const found: string[] = [];
    for (let index = 0; index < 50; index += 1) {
      const value = await transaction.get(Buffer.from(`key ${index}`));
      found.push(Buffer.from(value ?? []).toString());
    }
    return found;
  });
}

async function withData<T>(
  { client, machines }: Stage,
  body: (transaction: FdbTransaction) => Promise<T>,
): Promise<T> {
  const { spec, status } = await client.get(foundationDbClusters, { namespace, name: busy });
  const databases = await connectSimulated("127.0.0.1", machines.databasePort, clock, silentLog);
  const connectionString = status?.connectionString ?? "";
  const admin = databases.admin.open({ name: "person", connectionString, version: spec.version });
  try {
    return await admin.transact(body, { timeoutMs: 20_000 });
  } finally {
    admin.close();
    await databases.close();
  }
}

/** What would show that somebody meddled with the calm cluster. */
async function portrait(stage: Stage): Promise<unknown> {
  const labelSelector = `foundationdb.org/fdb-cluster-name=${calm}`;
  const { items } = await stage.client.listAll(pods, { namespace, labelSelector });
  const uids = items.map(({ metadata }) => metadata.uid).sort();
  return { uids, volumes: await storageVolumes(stage, calm) };
}

async function change(stage: Stage, spec: object): Promise<void> {
  const key = { namespace, name: busy };
  await stage.client.patch(foundationDbClusters, key, { spec }, { type: "merge" });
  await stage.eventually("the change is under way", async () => {
    const { status } = await stage.client.get(foundationDbClusters, key);
    const reconciled = conditionIn(status, "Reconciled");
    return reconciled?.status === "False" || undefined;
  });
}

/** [RUN25] Longer than a term lasts, so that the Lease is lost on the way. */
async function withoutApiServer(stage: Stage): Promise<void> {
  const { controlPlane, operator } = stage;
  const volumes = await storageVolumes(stage, busy);
  await change(stage, { processCounts: { storage: 5 } });
  await controlPlane.stopApiServer();
  await sleep(clock, 30_000);
  assert.equal(operator.child.exitCode, null, operator.lines.slice(-5).join("\n"));
  stage.restart.fromMs = clock.nowMs();
  await controlPlane.startApiServer();
  stage.restart.toMs = clock.nowMs();
  await untilReconciled(stage, busy, "the API server is back", operator);
  const kept = new Set(await storageVolumes(stage, busy));
  assert.deepEqual(
    volumes.filter((uid) => !kept.has(uid)),
    [],
  );
  assert.equal(kept.size, 5);
}

const foreignLeaseSeconds = 12;
/** What had been sent before the loss was noticed may arrive a little later on a busy machine. */
const onItsWayMs = 3_000;
/** Of the simulated database, when somebody tells it to do something. */
const commanded =
  /killed by a client's request| (excluded|included|configured|maintenance) | coordinators [\d[]/;

/** [RUN23] Between two terms nothing is written and the database is told nothing. */
async function withoutLease(stage: Stage): Promise<void> {
  const { controlPlane, operator, machines } = stage;
  const volumes = await storageVolumes(stage, busy);
  const terms = timesOf(operator, "leading").length;
  const lostBefore = timesOf(operator, lost).length;
  await change(stage, {
    processes: { general: { customParameters: ["knob_disable_posix_kernel_aio=1"] } },
  });
  await takeLease(stage);
  const lostMs = await stage.eventually("the loss is noticed", async () =>
    timesOf(operator, lost).at(lostBefore),
  );
  const againMs = await stage.eventually("the operator leads again", async () =>
    timesOf(operator, "leading").at(terms),
  );
  const isBetween = (atMs: number): boolean => atMs > lostMs + onItsWayMs && atMs < againMs;
  const written = controlPlane
    .audited(operatorUser)
    .filter(({ verb, atMs }) => isBetween(atMs) && !["get", "list", "watch"].includes(verb))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ""}`);
  assert.deepEqual(
    written.filter((text) => !text.includes("leases")),
    [],
  );
  const told = machines.lines.filter(
    (line) => commanded.test(line) && isBetween(parseInt(line, 10)),
  );
  assert.deepEqual(told, []);
  await untilReconciled(stage, busy, "the Lease is back", operator);
  await assertSameVolumes(stage, busy, volumes, "the Lease was taken away");
}

const lost = "the Lease was lost; waiting for it again";

/** As another instance that never renews it: it runs out by itself. */
async function takeLease({ client, eventually }: Stage): Promise<void> {
  await eventually("the Lease is taken", async () => {
    const lease = await client.get(leases, { namespace, name: defaultLeaseName });
    const nowText = formatMicroTime(clock.nowMs());
    const spec = {
      ...{ ...lease.spec, holderIdentity: "somebody-else", acquireTime: nowText },
      ...{ renewTime: nowText, leaseDurationSeconds: foreignLeaseSeconds },
    };
    try {
      return await client.update(leases, { ...lease, spec });
    } catch (error) {
      if (isKubeError(error, "Conflict")) return undefined;
      throw error;
    }
  });
}

/** [RUN26] The client process is killed at rest, and then all that there are in the middle of a change. */
async function withoutClients(stage: Stage): Promise<void> {
  const { operator } = stage;
  const before = clientsOf(operator);
  assert.equal(before.length, 1, "both databases share a process");
  const [first = 0] = before;
  process.kill(first, "SIGKILL");
  await stage.eventually("the loss is reported", async () =>
    losses(operator).length > 0 ? losses(operator) : undefined,
  );
  await stage.eventually("who may be the cause has a process of its own", async () =>
    clientsOf(operator).length === 2 ? true : undefined,
  );
  await change(stage, { processCounts: { storage: 4 } });
  for (const pid of clientsOf(operator)) process.kill(pid, "SIGKILL");
  await untilReconciled(stage, busy, "clients were killed", operator);
  assert.deepEqual(
    new Set(losses(operator)),
    new Set([`${namespace}/${busy}`, `${namespace}/${calm}`]),
  );
}

/** [RUN27] All pods go at once while the database shrinks, and find no node: nothing else may go before it is back. */
async function withoutDatabase(stage: Stage): Promise<void> {
  const { client, operator } = stage;
  const labelSelector = `foundationdb.org/fdb-cluster-name=${busy}`;
  await cordonAll(stage, true);
  await change(stage, { processCounts: { storage: 3 } });
  const volumes = await storageVolumes(stage, busy);
  const { items } = await client.listAll(pods, { namespace, labelSelector });
  for (const { metadata } of items) {
    await client.delete(pods, { namespace, name: metadata.name ?? "" }).catch((error: unknown) => {
      if (!isKubeError(error, "NotFound")) throw error;
    });
  }
  await stage.eventually("the database is seen to be away", async () => {
    const { status } = await client.get(foundationDbClusters, { namespace, name: busy });
    const available = conditionIn(status, "Available");
    return available?.status !== "True" || undefined;
  });
  await stage.eventually("all pods were made anew", async () => {
    const { items: found } = await client.listAll(pods, { namespace, labelSelector });
    return found.filter(({ status }) => status?.phase === "Pending").length >= 9 || undefined;
  });
  await assertSameVolumes(stage, busy, volumes, "the database was down");
  await cordonAll(stage, false);
  await untilReconciled(stage, busy, "the database is back", operator);
  assert.equal((await storageVolumes(stage, busy)).length, 3);
}

async function cordonAll({ client }: Stage, unschedulable: boolean): Promise<void> {
  for (const { metadata } of (await client.listAll(nodes, {})).items) {
    const { name = "" } = metadata;
    await client.patch(nodes, { name }, { spec: { unschedulable } }, { type: "merge" });
  }
}

/** When the operator wrote lines with this message. */
function timesOf(operator: Program, message: string): number[] {
  return linesOf(operator).flatMap((line) =>
    line["message"] === message ? [Date.parse(String(line["time"]))] : [],
  );
}

/** The databases whose clients were lost, one entry for each loss. */
function losses(operator: Program): string[] {
  const message = "the client process of a database was lost";
  return linesOf(operator).flatMap((line) =>
    line["message"] === message ? [String(line["database"])] : [],
  );
}

function linesOf({ lines }: Program): Record<string, unknown>[] {
  return lines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The client processes of an operator. */
function clientsOf({ child }: Program): number[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [pid, parent, ...args] = line.trim().split(/\s+/);
    const isClient = args.some((arg) => arg.endsWith("client-process.ts"));
    return isClient && Number(parent) === child.pid ? [Number(pid)] : [];
  });
}
