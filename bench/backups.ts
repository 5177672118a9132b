// Many backups on one operator, at rest: what each of them costs in pods, reads of keys and writes, and how much of a
// processor the operator takes for all of them. A backup that is well should cost next to nothing.
import type { AdminClient, FdbTransaction } from "../src/fdb/admin.ts";
import type { RequestRecord } from "../src/kube/client.ts";
import { BackupWorld } from "../test/world/managed-backup.ts";
import { createStore } from "../test/world/backup-harness.ts";
import { withAdmin } from "../test/world/with-admin.ts";
import { minuteMs, TestWorld, tiny } from "../test/world/world-harness.ts";
import { withOperatorShare } from "./operator-share.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";

export interface BackupsRun {
  backups: number;
  clusters: number;
  /** Virtual time until all can be restored. */
  restorableSeconds: number;
  /** Of commands, at the end of the rest. */
  commandPods: number;
  /** Keys and ranges of the backup layer, for each backup and minute. */
  readsPerMinute: number;
  /** For each backup and ten minutes. */
  statusWrites: number;
  configMapWrites: number;
  /** Everything else that was asked of the API server; watches and leases left out. */
  otherRequests: number;
  /** Of one processor, of the operator alone. */
  operatorPercent: number;
}

const perCluster = 10;
const restMinutes = 30;

export async function runBackups(
  counts: readonly number[],
  progress: (text: string) => void,
): Promise<BackupsRun[]> {
  const runs: BackupsRun[] = [];
  for (const backups of counts) {
    progress(`${backups} backups at rest`);
    runs.push(await runOne(backups, Math.ceil(backups / perCluster)));
  }
  return runs;
}

async function runOne(backups: number, clusters: number): Promise<BackupsRun> {
  let reads = 0;
  const wrapAdmin = withAdmin((client) => countingReads(client, () => (reads += 1)));
  const world = await TestWorld.open({ wrapAdmin, nodes: Math.max(6, clusters * 2), zones: 3 });
  try {
    const scene = new BackupWorld(world, await createStore(world));
    for (let index = 0; index < clusters; index += 1) {
      await world.createCluster(tiny, { name: `sample-${index}` });
    }
    for (let index = 0; index < clusters; index += 1) {
      await world.untilReconciled(15 * minuteMs, { name: `sample-${index}` });
    }
    await world.clock.advance(minuteMs);
    const startedMs = world.clock.nowMs();
    await createBackups(scene, backups, clusters);
    for (let index = 0; index < backups; index += 1) {
      await scene.untilRestorable(`backup-${index}`);
    }
    const restorableSeconds = Math.round((world.clock.nowMs() - startedMs) / 1000);
    // Pods of the first commands are kept for ten minutes.
    await world.clock.advance(15 * minuteMs);
    reads = 0;
    const mark = world.requests.length;
    const before = process.cpuUsage();
    const { share } = await withOperatorShare(() => world.clock.advance(restMinutes * minuteMs));
    const { user, system } = process.cpuUsage(before);
    return {
      ...{ backups, clusters, restorableSeconds },
      commandPods: (await scene.commandPods()).length,
      readsPerMinute: reads / backups / restMinutes,
      ...requestsOf(world.requests.slice(mark), backups),
      operatorPercent: (((user + system) / 1000) * share * 100) / (restMinutes * minuteMs),
    };
  } finally {
    await world.close();
  }
}

/** Each has a tag and a destination of its own. */
async function createBackups(scene: BackupWorld, backups: number, clusters: number): Promise<void> {
  for (let index = 0; index < backups; index += 1) {
    const name = `backup-${index}`;
    const clusterName = `sample-${index % clusters}`;
    const spec = { clusterName, tag: name, agentCount: 1, snapshotPeriodSeconds: 86_400 };
    await scene.create(spec, name);
  }
}

function requestsOf(
  requests: readonly RequestRecord[],
  backups: number,
): Pick<BackupsRun, "configMapWrites" | "otherRequests" | "statusWrites"> {
  const asked = requests.filter(
    ({ verb, resource }) => verb !== "watch" && resource.plural !== "leases",
  );
  const writes = (plural: string): number =>
    asked.filter(({ verb, resource }) => verb === "update" && resource.plural === plural).length;
  const each = (count: number): number => (count / backups / restMinutes) * 10;
  const [statuses, maps] = [writes("foundationdbbackups"), writes("configmaps")];
  return {
    statusWrites: each(statuses),
    configMapWrites: each(maps),
    otherRequests: each(asked.length - statuses - maps),
  };
}

/** The backup layer and the record of times lie here. */
const isOfBackups = (key: Uint8Array): boolean => key[0] === 0xff && key[1] === 0x02;

function countingReads(client: AdminClient, count: () => void): Partial<AdminClient> {
  return {
    transact: (body, options) =>
      client.transact((transaction) => body(counted(transaction, count)), options),
  };
}

function counted(transaction: FdbTransaction, count: () => void): FdbTransaction {
  return {
    ...transaction,
    get: (key, options) => {
      if (isOfBackups(key)) count();
      return transaction.get(key, options);
    },
    getRange: (begin, end, options) => {
      if (isOfBackups(begin)) count();
      return transaction.getRange(begin, end, options);
    },
  };
}

export function backupsTable(runs: readonly BackupsRun[]): string {
  const columns: Column<BackupsRun>[] = [
    { title: "backups", cell: ({ backups }) => String(backups) },
    { title: "databases", cell: ({ clusters }) => String(clusters) },
    { title: "all restorable s", cell: (run) => String(run.restorableSeconds) },
    { title: "command pods", cell: ({ commandPods }) => String(commandPods) },
    { title: "key reads/min", cell: (run) => run.readsPerMinute.toFixed(1) },
    { title: "status writes/10 min", cell: (run) => run.statusWrites.toFixed(2) },
    { title: "ConfigMap writes/10 min", cell: (run) => run.configMapWrites.toFixed(2) },
    { title: "other requests/10 min", cell: (run) => run.otherRequests.toFixed(2) },
    { title: "operator CPU %", cell: (run) => run.operatorPercent.toFixed(2) },
  ];
  const title = `Continuous backups at rest for ${restMinutes} minutes (virtual time; reads, writes and requests for each backup)`;
  return renderTable(title, columns, runs);
}

export function backupsAims(runs: readonly BackupsRun[]): Aim[] {
  const aim = (what: string, value: number, limit: number): Aim => ({
    ...{ what, value, limit },
    isMet: value <= limit,
  });
  return runs.flatMap((run) => {
    const what = `${run.backups} backups at rest`;
    return [
      aim(`${what}, command pods`, run.commandPods, 0),
      aim(`${what}, key reads a minute each`, run.readsPerMinute, 40),
      aim(`${what}, ConfigMap writes in ten minutes each`, run.configMapWrites, 1.05),
      aim(`${what}, status writes in ten minutes each`, run.statusWrites, 1.05),
      aim(`${what}, other requests in ten minutes each`, run.otherRequests, 0.05),
    ];
  });
}
