// The whole world of a test: emulated API server, scheduler, controllers and kubelets, the simulated database, and the
// operator, all on one virtual clock and one seed. Requests of the operator are counted by kind.
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import { createApiServer } from "../../src/emulator/api-server.ts";
import type { ApiServer } from "../../src/emulator/api-server.ts";
import { startControllers } from "../../src/emulator/controller-start.ts";
import { startKubelet } from "../../src/emulator/kubelet.ts";
import type { RunningKubelet } from "../../src/emulator/kubelet.ts";
import { createPodNetwork } from "../../src/emulator/pod-network.ts";
import type { EmulatedPodNetwork } from "../../src/emulator/pod-network.ts";
import { startScheduler } from "../../src/emulator/scheduler.ts";
import { silentLog } from "../../src/env/log.ts";
import { seededRandom } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import { standardImages } from "../../src/images/standard-images.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { RequestRecord } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { StorageClass } from "../../src/kube/generated/types.ts";
import {
  customResourceDefinitions as definitions,
  storageClasses,
} from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import type { Activity } from "../../src/operate/activity.ts";
import { startOperator } from "../../src/operate/operator.ts";
import type { Operator, OperatorOptions } from "../../src/operate/operator.ts";
import { createSimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import type { SimulatedFdb } from "../../src/sim/database/simulated-fdb.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

export const smallPods: ClusterSpec["processes"] = {
  general: {
    podTemplate: {
      spec: {
        containers: [
          {
            name: "foundationdb",
            resources: { requests: { cpu: "50m", memory: "64Mi" } },
          },
        ],
      },
    },
  },
};

export interface FullWorldOptions {
  seed?: number;
  nodes?: number;
  zones?: number;
  spec?: Partial<ClusterSpec>;
  operator?: OperatorOptions;
  nodeCapacity?: Readonly<Record<string, string>>;
  /** Stands between the operator and the database. */
  admin?: (admin: AdminClientFactory) => AdminClientFactory;
  /** Called before each request of the operator; what it throws is the request's end. */
  intercept?: (request: KubeRequest) => Promise<void>;
}

/** The operator dies at its n-th write, before or after the write reached the server. */
export interface Crash {
  write: number;
  moment: "before" | "after";
}

export interface RunningOperator {
  operator: Operator;
  /** Whether it has met its crash. */
  isDead: () => boolean;
  stop: () => Promise<void>;
}

export class FullWorld {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly network: EmulatedPodNetwork;
  readonly fdb: SimulatedFdb;
  readonly kubelet: RunningKubelet;
  readonly requests: RequestRecord[] = [];
  readonly activities: Activity[] = [];
  readonly #options: FullWorldOptions;
  readonly #end = new AbortController();

  private constructor(options: FullWorldOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 1);
    const { clock, random } = this;
    const { signal } = this.#end;
    const log = silentLog;
    this.server = createApiServer({ clock, random });
    this.client = this.#clientOf("test");
    this.network = createPodNetwork(clock);
    this.fdb = createSimulatedFdb({ clock, random, resolver: this.network });
    startScheduler({ client: this.#clientOf("scheduler"), clock, random, log, signal });
    startControllers({ client: this.#clientOf("controllers"), clock, random, log, signal });
    const nodes = Array.from({ length: options.nodes ?? 6 }, (_, index) => ({
      name: `node-${index + 1}`,
      zone: `zone-${(index % (options.zones ?? 3)) + 1}`,
      ...(options.nodeCapacity === undefined ? {} : { capacity: options.nodeCapacity }),
    }));
    this.kubelet = startKubelet({
      client: this.#clientOf("kubelet"),
      clock,
      random,
      log,
      signal,
      runtime: this.fdb.runtime,
      network: this.network,
      images: standardImages(),
      options: { nodes },
    });
    this.server.context.logs = (...asked) => this.kubelet.logs(...asked);
    this.server.context.streams = this.kubelet.streams;
  }

  static async open(options: FullWorldOptions = {}): Promise<FullWorld> {
    const world = new FullWorld(options);
    await world.#prepare();
    return world;
  }

  async #prepare(): Promise<void> {
    for (const definition of customResourceDefinitions) {
      await this.client.create(definitions, definition);
    }
    const storageClass: Stored<StorageClass> = {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: {
        name: "standard",
        annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
      },
      provisioner: "emulated",
      volumeBindingMode: "WaitForFirstConsumer",
    };
    await this.client.create(storageClasses, storageClass);
    await this.clock.advance(3_000);
  }

  startOperator(crash?: Crash): RunningOperator {
    const stop = new AbortController();
    const { intercept, admin = (same) => same } = this.#options;
    const mortal = mortalTransport(
      interceptedTransport(this.server.transport("operator"), intercept),
      crash,
    );
    const operator = startOperator({
      transport: mortal.transport,
      admin: admin(this.fdb.admin),
      podNetwork: this.network,
      clock: this.clock,
      random: this.random,
      log: silentLog,
      options: this.#options.operator,
      signal: stop.signal,
      onActivity: (activity) => this.activities.push(activity),
      onRequest: (record) => this.requests.push(record),
    });
    return {
      operator,
      isDead: mortal.isDead,
      stop: async () => {
        stop.abort();
        await operator.stopped;
      },
    };
  }

  createCluster(name = "sample", spec: Partial<ClusterSpec> = {}): Promise<unknown> {
    const cluster: Stored<FoundationDBCluster> = {
      apiVersion,
      kind: "FoundationDBCluster",
      metadata: { name, namespace: "default" },
      spec: { version: "7.3.79", processes: smallPods, ...this.#options.spec, ...spec },
    };
    return this.client.create(foundationDbClusters, cluster);
  }

  cluster(name = "sample"): Promise<Stored<FoundationDBCluster>> {
    return this.client.get(foundationDbClusters, { namespace: "default", name });
  }

  changeSpec(change: Partial<ClusterSpec>, name = "sample"): Promise<unknown> {
    const key = { namespace: "default", name };
    return this.client.patch(foundationDbClusters, key, { spec: change }, { type: "merge" });
  }

  /** Lets time pass until the cluster is reconciled at its generation; how long it took. */
  async untilReconciled(limitMs: number, name = "sample"): Promise<number> {
    const startedMs = this.clock.nowMs();
    while (this.clock.nowMs() - startedMs < limitMs) {
      await this.clock.advance(500);
      const { metadata, status } = await this.cluster(name);
      if (status?.generations?.reconciled === metadata.generation) {
        return this.clock.nowMs() - startedMs;
      }
    }
    const { status } = await this.cluster(name);
    throw new Error(`not reconciled: ${JSON.stringify(status?.blockedBy, undefined, 1)}`);
  }

  /** Requests of the operator other than lists and watches, as "verb plural". */
  counted(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { verb, resource, subresource } of this.requests) {
      if (verb === "watch" || verb === "list") continue;
      const kind = `${verb} ${resource.plural}${subresource === undefined ? "" : `/${subresource}`}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  }

  close(): void {
    this.#end.abort();
    this.server.stop();
  }

  #clientOf(userName: string): KubeClient {
    return new KubeClient(this.server.transport(userName), { userAgent: userName });
  }
}

function interceptedTransport(
  transport: KubeTransport,
  intercept: ((request: KubeRequest) => Promise<void>) | undefined,
): KubeTransport {
  if (intercept === undefined) return transport;
  return {
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: async (request) => {
      await intercept(request);
      return transport.request(request);
    },
  };
}

/** After its crash nothing that the operator says reaches the server any more. Events do not count as writes. */
function mortalTransport(
  transport: KubeTransport,
  crash: Crash | undefined,
): { transport: KubeTransport; isDead: () => boolean } {
  let writes = 0;
  let isDead = false;
  const lost = new KubeError(0, "Unreachable", "the operator is dead");
  const request = async (call: KubeRequest): ReturnType<KubeTransport["request"]> => {
    if (isDead) throw lost;
    if (call.method === "GET" || call.path.endsWith("/events")) return transport.request(call);
    writes += 1;
    isDead = writes === crash?.write;
    if (isDead && crash?.moment === "before") throw lost;
    const answer = await transport.request(call);
    if (isDead) throw lost;
    return answer;
  };
  return {
    isDead: () => isDead,
    transport: { request, watch: (call, onEvent) => transport.watch(call, onEvent) },
  };
}
