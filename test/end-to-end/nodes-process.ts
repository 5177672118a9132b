// A program: the nodes of a real API server. Emulated kubelets, a scheduler, volumes and a simulated FoundationDB work against
// that server and serve the database to operators in other processes. Settings come as JSON in the first argument;
// the port of the database is told on the first line of the output, and what the database does on the others.
import { VolumeController } from "../../src/emulator/controller-volumes.ts";
import { startKubelet } from "../../src/emulator/kubelet.ts";
import { Informers } from "../../src/emulator/node-informers.ts";
import { createPodNetwork } from "../../src/emulator/pod-network.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import { machineClock } from "../../src/env/clock.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { pinoLog } from "../../src/env/pino-log.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from "../../src/kube/resource.ts";
import { createSimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import { serveDatabases } from "../../src/sim/remote/database-server.ts";
import { emulatedNodes } from "../../src/sim/world.ts";

export interface NodesSettings {
  readonly server: string;
  readonly certificateAuthority: string;
  readonly token: string;
  readonly nodes: number;
  readonly zones: number;
  readonly seed: number;
  /** Pods start and configurations arrive sooner than on most real nodes. */
  readonly hurry?: boolean;
}

/** Time limits of commands are in the operator's time, so the database keeps that; only nodes hurry. */
const haste = {
  imagePullMs: { min: 50, max: 200 },
  containerStartMs: { min: 50, max: 200 },
  configMapDelayMs: { min: 500, max: 2000 },
};

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "{}") as NodesSettings);

async function main(settings: NodesSettings): Promise<void> {
  const { server, certificateAuthority, token, seed } = settings;
  const clock = machineClock();
  const transport = httpsTransport({ server, certificateAuthority, token }, { maxSockets: 200 });
  const { signal } = new AbortController();
  const log = pinoLog({ clock, level: "warn" });
  const part = (name: string) => ({
    client: new KubeClient(transport, { userAgent: name }),
    ...{ clock, signal, log, random: keyedRandom(seed, name) },
  });
  const network = createPodNetwork(clock);
  const fdb = createSimulatedFdb({
    ...{ clock, random: keyedRandom(seed, "database"), resolver: network },
    trace: (line) => process.stdout.write(`${clock.nowMs()} ${line}\n`),
  });
  const kubelet = startKubelet({
    ...part("kubelet"),
    runtime: fdb.runtime,
    network,
    options: {
      nodes: emulatedNodes(settings.nodes, settings.zones),
      ...(settings.hurry === true ? haste : {}),
    },
  });
  const scheduler = startScheduler(part("kube-scheduler"));
  await startVolumes(part("volumes"));
  await Promise.all([kubelet.started, scheduler.started]);
  const served = await serveDatabases({ admin: fdb.admin, network });
  process.stdout.write(`${served.port}\n`);
}

/** The real controller manager binds volumes, but nobody makes them. */
async function startVolumes(
  part: Omit<ConstructorParameters<typeof VolumeController>[0], "informers">,
): Promise<void> {
  const informers = new Informers(part);
  await informers.synced(nodes, persistentVolumeClaims, persistentVolumes, storageClasses);
  new VolumeController({ ...part, informers }, { provisionMs: { min: 100, max: 500 } }).start();
}
