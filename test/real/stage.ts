// A stage on a real API server: its control plane, emulated nodes and simulated databases in this process, and operators
// in processes of their own. What runs in the emulated world runs here on the real engine.
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { customResourceDefinitions as ourDefinitions } from "../../src/api/crd.ts";
import { startControllers } from "../../src/emulator/controller-start.ts";
import { startKubelet } from "../../src/emulator/kubelet.ts";
import type { RunningKubelet } from "../../src/emulator/kubelet.ts";
import { createPodNetwork } from "../../src/emulator/pod-network.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import { machineClock } from "../../src/env/clock.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { silentLog } from "../../src/env/log.ts";
import type { Log } from "../../src/env/log.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { httpsTransport } from "../../src/kube/https.ts";
import type { KubeConnection } from "../../src/kube/kubeconfig.ts";
import { customResourceDefinitions, storageClasses } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { serveDatabases } from "../../src/sim/remote/database-server.ts";
import type { DatabaseServer } from "../../src/sim/remote/database-server.ts";
import { createSimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import type { SimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import { standardStorageClass } from "../../src/sim/standard-storage.ts";
import { emulatedNodes, isReconciled } from "../../src/sim/world.ts";
import { startControlPlane } from "../control-plane.ts";
import { eventually } from "../eventually.ts";
import type { ControlPlane } from "../control-plane.ts";

export interface StageOptions {
  nodes?: number;
  seed?: number;
  say?: (line: string) => void;
  /** Of the emulated nodes. */
  log?: Log;
}

export interface Stage {
  readonly controlPlane: ControlPlane;
  /** With all rights. */
  readonly connection: KubeConnection;
  readonly client: KubeClient;
  readonly fdb: SimulatedFdb;
  readonly kubelet: RunningKubelet;
  readonly databases: DatabaseServer;
  end(): Promise<void>;
}

const clock = machineClock();

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const controlPlane = await startControlPlane({ say: options.say });
  const ending = new AbortController();
  const connection: KubeConnection = {
    server: controlPlane.url,
    certificateAuthority: controlPlane.caPem,
    token: controlPlane.token("admin"),
  };
  const transport = httpsTransport(connection, { maxSockets: 200 });
  const clientOf = (userAgent: string): KubeClient => new KubeClient(transport, { userAgent });
  const client = clientOf("person");
  try {
    await installDefinitions(client);
    const random = (name: string) => keyedRandom(options.seed ?? 1, name);
    const network = createPodNetwork(clock);
    const fdb = createSimulatedFdb({ clock, random: random("database"), resolver: network });
    const part = (name: string) => ({
      ...{ client: clientOf(name), clock, random: random(name), log: options.log ?? silentLog },
      signal: ending.signal,
    });
    const nodes = emulatedNodes(options.nodes ?? 6, 3);
    const kubelet = startKubelet({
      ...part("kubelet"),
      ...{ runtime: fdb.runtime, network, options: { nodes } },
    });
    const parts = [
      kubelet,
      startScheduler(part("kube-scheduler")),
      startControllers(part("kube-controller-manager")),
    ];
    const databases = await serveDatabases({ admin: fdb.admin, network });
    await Promise.all(parts.map((each) => each.started));
    const end = async (): Promise<void> => {
      ending.abort();
      await databases.close();
      transport.close();
      await controlPlane.stop();
    };
    return { controlPlane, connection, client, fdb, kubelet, databases, end };
  } catch (error) {
    ending.abort();
    await controlPlane.stop();
    throw error;
  }
}

async function installDefinitions(client: KubeClient): Promise<void> {
  for (const definition of ourDefinitions) {
    await client.create(customResourceDefinitions, definition);
  }
  await client.create(storageClasses, standardStorageClass);
  await eventually("the CRDs are served", async () => {
    try {
      await client.list(foundationDbClusters);
      return true;
    } catch (error) {
      if (isKubeError(error)) return undefined;
      throw error;
    }
  });
}

/** Resolves when the newest generation is in force; says what it waits for when that does not come. */
export async function untilReconciled(
  client: KubeClient,
  key: { namespace: string; name: string },
  patienceMs?: number,
): Promise<Stored<FoundationDBCluster>> {
  let last: Stored<FoundationDBCluster> | undefined;
  try {
    return await eventually(
      `${key.name} is reconciled`,
      async () => {
        last = await client.find(foundationDbClusters, key);
        return last !== undefined && isReconciled(last) ? last : undefined;
      },
      patienceMs,
    );
  } catch (error) {
    throw new Error(
      `${String(error)}: ${JSON.stringify(last?.status?.blockedBy ?? last?.status)}`,
      {
        cause: error,
      },
    );
  }
}
