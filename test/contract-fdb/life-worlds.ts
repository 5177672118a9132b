// The two worlds in which a cluster lives through its cases: real fdbservers in real time, and the simulated database in
// virtual time. Both have the emulated Kubernetes and the operator of `fdb-operator dev`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { createResources } from "../../src/cli/create-resources.ts";
import { openProcesses } from "../../src/cli/dev-processes.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import type { SourceDocument } from "../../src/cli/documents.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import { forkStarter } from "../../src/fdb/client/child-handle.ts";
import type { ChildHandle } from "../../src/fdb/client/child-handle.ts";
import { clientProgramPath } from "../../src/fdb/client/client-program.ts";
import type { Activity } from "../../src/operate/activity.ts";
import type { ProcessRuntime, ServerProcess } from "../../src/pod/process-runtime.ts";
import { loopbackAddress } from "../../src/pod/loopback-address.ts";
import { createCertificates } from "../../src/sim/sample-certificates.ts";
import type { CertificateTexts } from "../../src/sim/sample-certificates.ts";
import { createGround } from "../../src/sim/ground.ts";
import type { Ground } from "../../src/sim/ground.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { OperatorLife } from "../../src/sim/faults/mortal-operator.ts";
import { startWorldOn } from "../../src/sim/world.ts";
import type { SiteOptions, World } from "../../src/sim/world.ts";
import { startObjectStore } from "../object-store.ts";
import type { ObjectStoreServer } from "../object-store.ts";
import { lifeData } from "./life-data.ts";
import { lifeKey, untilAtRest } from "./life-target.ts";
import type { LifeBeginning, LifeStore, LifeTarget } from "./life-target.ts";
import { writeCertificates } from "./real-database.ts";
import { SwitchedAdmin } from "./switched-admin.ts";

/** Far behind the addresses of the pods. */
const storeAddress = 60_000;

/** Data distribution begins early after a recovery, and shards are small, so that little data moves as much data would. */
export const quickKnobs: readonly string[] = [
  "knob_initial_failure_reaction_delay=3.0",
  "knob_min_shard_bytes=200000",
];

/** Waits that protect large databases from haste; this one is small. */
const haste: SiteOptions["operator"] = {
  plan: {
    configurationMinimumUptimeSeconds: 1,
    exclusionMinimumUptimeSeconds: 1,
    coordinatorMinimumUptimeSeconds: 1,
    coordinatorMissingMs: 10_000,
  },
};

export interface Life {
  readonly target: LifeTarget;
  readonly stop: () => Promise<void>;
}

type Passing = Pick<
  LifeTarget,
  "finish" | "pass" | "crashClients" | "mostRecoveriesOfOneKill" | "store"
>;

interface LifeSite extends Pick<SiteOptions, "runtime" | "wrapAdmin" | "kubelet" | "nodes"> {
  /** For a cluster that turns TLS on; those of simulated servers when absent. */
  readonly certificates?: CertificateTexts;
}

/** With the program of an S3 server, where there is one; of the newest version unless it begins with another. */
export async function realLife(
  environment: NodeJS.ProcessEnv,
  objectStore: string | undefined,
  beginning?: LifeBeginning,
): Promise<Life> {
  const clock = machineClock();
  const children = new Set<ChildHandle>();
  const fork = forkStarter(clientProgramPath());
  const folder = mkdtempSync(join(tmpdir(), "fdb-life-"));
  const certificates = writeCertificates(folder);
  const processes = await openProcesses({
    ...{ environment: { ...environment, ...certificates }, clock, log: silentLog },
    startClient: (handed) => {
      const child = fork(handed);
      children.add(child);
      return child;
    },
  });
  const store = objectStore === undefined ? undefined : await startStore(objectStore);
  const passing: Passing = {
    store: store && {
      ...lifeStore(`${store.host}:${store.port}`, store.host),
      lose: (isLost) => store.lose(isLost),
    },
    finish: (operation) => operation,
    pass: (seconds) => sleep(clock, seconds * 1000),
    crashClients: () => {
      for (const child of children) child.kill();
      children.clear();
    },
    mostRecoveriesOfOneKill: 3,
  };
  const documents = begun(await processes.sample(), beginning);
  const site = { ...processes.site, certificates: textsIn(folder), ...nodesOf(beginning) };
  const end = async (): Promise<void> => {
    await store?.stop();
    await processes.stop();
    clock.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const life = await live(createGround({ clock, seed: 1 }), site, documents, passing);
    return {
      target: life.target,
      async stop() {
        await life.stop();
        await end();
      },
    };
  } catch (error) {
    // A cluster that never came to rest leaves no server behind.
    await end();
    throw error;
  }
}

export async function simulatedLife(sample: string, beginning?: LifeBeginning): Promise<Life> {
  const clock = new VirtualClock();
  const finish = async <T>(operation: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    operation.then(done, done);
    await clock.run({ until: () => isDone });
    return operation;
  };
  const pass = async (seconds: number): Promise<void> => {
    await clock.advance(seconds * 1000);
  };
  const documents = begun(await readDocuments(sample), beginning);
  const kind = { crashClients: undefined, mostRecoveriesOfOneKill: 1 };
  const ground = createGround({ clock, seed: 1 });
  const { bucket, key, region, secret } = account;
  const objects = ground.fdb.objectStores.add("store.example.com:7070", {
    ...{ accounts: { [key]: secret }, buckets: [bucket], region },
  });
  const store = {
    ...lifeStore("store.example.com:7070", "store.example.com"),
    lose: (isLost: (key: string) => boolean) => objects.lose(bucket, (each) => isLost(each.key)),
  };
  return live(ground, nodesOf(beginning), documents, { finish, pass, store, ...kind });
}

const account = { key: "BKKEY", secret: "BKSECRET", region: "us-east-1", bucket: "fdb-backups" };

function lifeStore(address: string, host: string): Omit<LifeStore, "lose"> {
  const { key, secret, region, bucket } = account;
  return {
    ...{ accountName: `${key}@${address}`, bucket },
    urlParameters: ["sc=0", `region=${region}`],
    credentials: JSON.stringify({ accounts: { [`${key}@${host}`]: { secret } } }),
  };
}

async function startStore(binary: string): Promise<ObjectStoreServer> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-life-"));
  const host = loopbackAddress(storeAddress);
  const server = await startObjectStore({ binary, host, folder, ...account });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function textsIn(folder: string): CertificateTexts {
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return { "tls.crt": read("tls.crt"), "tls.key": read("tls.key"), "ca.crt": read("ca.crt") };
}

async function live(
  ground: Ground,
  { certificates, ...site }: LifeSite,
  documents: readonly SourceDocument[],
  passing: Passing,
): Promise<Life> {
  const activities: Activity[] = [];
  const servers = new Map<string, Set<ServerProcess>>();
  const heldDown = new Set<string>();
  let operator = new OperatorLife();
  const world = startWorldOn(ground, {
    nodes: 8,
    ...site,
    wrapTransport(transport) {
      operator = new OperatorLife();
      return operator.transport(transport);
    },
    wrapAdmin: (admin) => operator.admin(site.wrapAdmin?.(admin) ?? admin),
    runtime: listed(site.runtime ?? ground.fdb.runtime, servers, heldDown),
    ...{ zones: 4, operator: haste },
    onActivity: (activity) => void activities.push(activity),
  });
  await passing.finish(world.started);
  await passing.finish(createCertificates(world.client, lifeKey.namespace, certificates));
  await passing.finish(createResources(world.client, world.transport, documents.map(hurried)));
  const factory = site.wrapAdmin?.(ground.fdb.admin) ?? ground.fdb.admin;
  const open = (name: string): Promise<AdminClient> =>
    openWhenCreated(world, factory, passing, name);
  const person = new SwitchedAdmin(await open(lifeKey.name));
  const admin = person.client;
  const killServers = (podName: string): void => {
    for (const server of servers.get(podName) ?? []) server.kill();
  };
  const target: LifeTarget = {
    ...{ world, admin, open, activities, data: lifeData(admin, passing.finish), ...passing },
    killServers,
    async reopen() {
      person.switchTo(await open(lifeKey.name));
    },
    async killOperator() {
      operator.die();
      await passing.finish(world.stopOperator());
      world.startOperator();
    },
    holdDown(podNames) {
      for (const name of podNames) {
        heldDown.add(name);
        killServers(name);
      }
      return () => heldDown.clear();
    },
  };
  await untilAtRest(target);
  return {
    target,
    async stop() {
      admin.close();
      await passing.finish(world.stop());
    },
  };
}

function begun(
  documents: readonly SourceDocument[],
  beginning: LifeBeginning | undefined,
): readonly SourceDocument[] {
  if (beginning === undefined) return documents;
  return documents.map((document) => {
    const { spec } = document.object as { spec?: ClusterSpec };
    if (spec === undefined) return document;
    return { ...document, object: { ...document.object, spec: beginning.specOf(spec) } };
  });
}

function nodesOf(beginning: LifeBeginning | undefined): Pick<LifeSite, "nodes"> {
  return beginning?.nodes === undefined ? {} : { nodes: beginning.nodes };
}

/** Waits that protect a busy database would only make the cases long. */
function hurried(document: SourceDocument): SourceDocument {
  const { spec, ...rest } = document.object as { spec?: Record<string, unknown> };
  const processes = spec?.["processes"] as { general?: object } | undefined;
  const general = { ...processes?.general, customParameters: quickKnobs };
  return {
    ...document,
    object: {
      ...(rest as SourceDocument["object"]),
      spec: {
        ...spec,
        minimumUptimeSecondsForBounce: 1,
        automationOptions: { waitBetweenRemovalsSeconds: 0 },
        processes: { ...processes, general },
      },
    } as SourceDocument["object"],
  };
}

async function openWhenCreated(
  world: World,
  factory: AdminClientFactory,
  { pass }: Passing,
  clusterName: string,
): Promise<AdminClient> {
  const key = { ...lifeKey, name: clusterName };
  for (;;) {
    const { spec, status } = await world.client.get(foundationDbClusters, key);
    const { connectionString = "" } = status ?? {};
    const name = `${lifeKey.namespace}/person`;
    if (connectionString !== "") {
      return factory.open({ name, connectionString, version: spec.version });
    }
    await pass(1);
  }
}

/** Keeps at hand what runs in each pod. */
function listed(
  runtime: ProcessRuntime,
  servers: Map<string, Set<ServerProcess>>,
  heldDown: ReadonlySet<string>,
): ProcessRuntime {
  return {
    start(spec) {
      if (heldDown.has(spec.pod.name)) {
        const exit = { code: 1, message: "it is held down" };
        return { exited: Promise.resolve(exit), kill: () => {} };
      }
      const server = runtime.start(spec);
      const inPod = servers.get(spec.pod.name) ?? new Set();
      servers.set(spec.pod.name, inPod.add(server));
      void server.exited.then(() => inPod.delete(server));
      return server;
    },
    ...(runtime.startTool && { startTool: runtime.startTool.bind(runtime) }),
    volumeRemoved: (volumeId) => runtime.volumeRemoved?.(volumeId),
  };
}
