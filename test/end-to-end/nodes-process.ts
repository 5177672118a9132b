// A program: the nodes of one or more real API servers, and what they stand on together. Emulated kubelets, schedulers and
// volumes work against each server; all pods are on one network, and one simulated FoundationDB runs in them and is
// served to operators in other processes. Settings come as JSON in the first argument. The port of the database is told
// on the first line of the output, and what the database does on the others; every message is answered with its truth.
import { standardImages } from "../../src/images/standard-images.ts";
import { VolumeController } from "../../src/emulator/controller-volumes.ts";
import { startKubelet } from "../../src/emulator/kubelet.ts";
import { Informers } from "../../src/emulator/node-informers.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import { machineClock } from "../../src/env/clock.ts";
import { pinoLog } from "../../src/env/pino-log.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { DatabaseTruth, LostData } from "../../src/sim/database/ground-truth.ts";
import { createGround } from "../../src/sim/ground.ts";
import type { Ground } from "../../src/sim/ground.ts";
import { serveDatabases } from "../../src/sim/remote/database-server.ts";
import { Trace } from "../../src/sim/trace.ts";
import { dnsDomainOf, siteNodes } from "../../src/sim/world.ts";
import { serveLogs } from "./kubelet-logs.ts";

export interface NodesSettings {
  /** In the order of their address blocks. */
  readonly sites: readonly SiteSettings[];
  readonly seed: number;
  /** Pods start and configurations arrive sooner than on most real nodes, and data distribution has little to do. */
  readonly hurry?: boolean;
}

/** One API server and its nodes. */
export interface SiteSettings {
  readonly name: string;
  readonly server: string;
  readonly certificateAuthority: string;
  readonly token: string;
  readonly nodes: number;
  readonly zones: number;
  readonly nodeCapacity?: Readonly<Record<string, string>>;
}

export interface NodesTruth {
  readonly databases: readonly DatabaseTruth[];
  readonly lost: readonly LostData[];
}

/** Time limits of commands are in the operator's time, so commands take as long as they do. */
const hastyDatabase = { initialBytes: 20_000_000, timings: { distributorInitializingMs: 5_000 } };
const haste = {
  imagePullMs: { min: 50, max: 200 },
  containerStartMs: { min: 50, max: 200 },
  configMapDelayMs: { min: 500, max: 2000 },
};

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "{}") as NodesSettings);

async function main({ sites, seed, hurry = false }: NodesSettings): Promise<void> {
  const clock = machineClock();
  const log = pinoLog({ clock, level: "warn" });
  const trace = new Trace({
    clock,
    keepLines: 0,
    onLine: (line) => process.stdout.write(`${line}\n`),
  });
  const database = hurry ? hastyDatabase : {};
  const ground = createGround({ clock, seed, log, trace, database });
  const { fdb, network } = ground;
  await Promise.all(
    sites.map((site, addressBlock) => startSite(ground, site, addressBlock, hurry ? haste : {})),
  );
  const served = await serveDatabases({ admin: fdb.admin, network });
  process.stdout.write(`${served.port}\n`);
  process.on("message", () => {
    const truth: NodesTruth = { databases: fdb.truth.databases(), lost: fdb.truth.dataLost() };
    process.send?.(truth);
  });
  process.on("disconnect", () => process.exit());
}

async function startSite(
  ground: Ground,
  site: SiteSettings,
  addressBlock: number,
  pace: Partial<typeof haste>,
): Promise<void> {
  const { name, server, certificateAuthority, token } = site;
  const { clock, fdb, network } = ground;
  const transport = httpsTransport({ server, certificateAuthority, token }, { maxSockets: 200 });
  const { signal } = new AbortController();
  const part = (title: string) => {
    const full = name === "" ? title : `${name} ${title}`;
    const client = new KubeClient(transport, { userAgent: title });
    return { client, clock, signal, log: ground.logOf(full), random: ground.random(full) };
  };
  const kubelet = startKubelet({
    ...part("kubelet"),
    ...{ runtime: fdb.runtime, network },
    images: standardImages(),
    options: {
      ...(name === "" ? {} : { dnsDomain: dnsDomainOf(name) }),
      ...{ ...pace, addressBlock, nodes: siteNodes(site) },
    },
  });
  const scheduler = startScheduler(part("kube-scheduler"));
  await startVolumes(part("volumes"));
  await Promise.all([kubelet.started, scheduler.started]);
  await serveLogs(kubelet, part("kubelet").client);
}

/** The real controller manager binds volumes, but nobody makes them. */
async function startVolumes(
  part: Omit<ConstructorParameters<typeof VolumeController>[0], "informers">,
): Promise<void> {
  const informers = new Informers(part);
  await informers.synced(nodes, persistentVolumeClaims, persistentVolumes, storageClasses);
  new VolumeController(
    { ...part, informers },
    { provisionMs: { min: 100, max: 500 }, isBinding: false },
  ).start();
}
