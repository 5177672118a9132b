// A whole world for a test, in virtual time: small helpers to create clusters, to let time pass until something is so,
// and to say readably why it did not come about.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import type { RequestRecord } from "../../src/kube/client.ts";
import type { Event, Pod } from "../../src/kube/generated/types.ts";
import { events, namespaces, pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Activity } from "../../src/operate/activity.ts";
import { createCertificates, withCertificates } from "../../src/sim/sample-certificates.ts";
import { Trace } from "../../src/sim/trace.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { startWorld } from "../../src/sim/world.ts";
import type { World, WorldOptions } from "../../src/sim/world.ts";

export type TestWorldOptions = Partial<Omit<WorldOptions, "clock" | "trace">> & {
  /** Made when absent. */
  clock?: VirtualClock;
  /** A Secret for `securedProcesses` is there from the beginning. */
  hasCertificates?: boolean;
  /** Lines of the trace that are kept; failures print the last ones. */
  keepLines?: number;
};

export interface ClusterName {
  name?: string;
  namespace?: string;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** Three process groups: the smallest cluster that has every kind of object. */
export const tiny: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "single" },
  processCounts: { storage: 1, log: 1, stateless: 1 },
};

/** One copy more than tiny: data survives the loss of a pod. */
export const small: Partial<ClusterSpec> = {
  databaseConfiguration: { redundancy_mode: "double" },
  processCounts: { storage: 3, log: 3, stateless: 3 },
};

const containerRequests = { requests: { cpu: "50m", memory: "64Mi" } };

export const frugalProcesses: NonNullable<ClusterSpec["processes"]> = {
  general: {
    podTemplate: {
      spec: {
        containers: [
          { name: "foundationdb", resources: containerRequests },
          { name: "foundationdb-kubernetes-sidecar", resources: containerRequests },
        ],
      },
    },
  },
};

/** The same with certificates, for clusters that speak TLS. */
export const securedProcesses: NonNullable<ClusterSpec["processes"]> = {
  general: {
    podTemplate: {
      spec: withCertificates(frugalProcesses["general"]?.podTemplate?.spec ?? { containers: [] }),
    },
  },
};

export function clusterOf(
  spec: Partial<ClusterSpec> = {},
  { name = "sample", namespace = "default" }: ClusterName = {},
): Stored<FoundationDBCluster> {
  return {
    apiVersion,
    kind: "FoundationDBCluster",
    metadata: { name, namespace },
    spec: { version: "7.3.63", processes: frugalProcesses, ...spec },
  };
}

/** What a test has heard of one operator. */
export interface Heard {
  /** Every request of the operator that has ended. */
  readonly requests: RequestRecord[];
  readonly activities: Activity[];
}

/** Notes what an operator says, and still tells those who asked for it. */
export function listen({
  onRequest,
  onActivity,
}: Pick<TestWorldOptions, "onRequest" | "onActivity"> = {}): Heard & {
  listeners: Required<Pick<TestWorldOptions, "onRequest" | "onActivity">>;
} {
  const requests: RequestRecord[] = [];
  const activities: Activity[] = [];
  return {
    requests,
    activities,
    listeners: {
      onRequest: (record) => {
        requests.push(record);
        onRequest?.(record);
      },
      onActivity: (activity) => {
        activities.push(activity);
        onActivity?.(activity);
      },
    },
  };
}

const realPauseMs = 50;
const realTries = 400;

export class TestWorld implements Heard {
  readonly clock: VirtualClock;
  readonly trace: Trace;
  readonly world: World;
  readonly requests: RequestRecord[];
  readonly activities: Activity[];

  constructor(parts: Heard & { clock: VirtualClock; trace: Trace; world: World }) {
    this.clock = parts.clock;
    this.trace = parts.trace;
    this.world = parts.world;
    this.requests = parts.requests;
    this.activities = parts.activities;
  }

  static async open(options: TestWorldOptions = {}): Promise<TestWorld> {
    const {
      keepLines = 200,
      clock = new VirtualClock(),
      seed = 1,
      hasCertificates,
      ...rest
    } = options;
    const trace = new Trace({ clock, keepLines });
    const { listeners, ...heard } = listen(options);
    const started = startWorld({ ...rest, ...listeners, seed, clock, trace });
    const world = new TestWorld({ ...heard, clock, trace, world: started });
    await world.during(started.started, minuteMs, "the start of the world");
    if (hasCertificates) await createCertificates(started.client, "default");
    return world;
  }

  /** Opens a world, runs the body in it and closes it whatever happens. */
  static async run(
    options: TestWorldOptions,
    body: (world: TestWorld) => Promise<void>,
  ): Promise<void> {
    const world = await TestWorld.open(options);
    try {
      await body(world);
      const passesFailed = world.world.operator.counters().passesFailed;
      assert.equal(passesFailed, 0, `a pass failed\n${world.lastLines()}`);
    } finally {
      await world.close();
    }
  }

  /** A cluster that is up and at rest. */
  static async runWithCluster(
    options: TestWorldOptions & { spec?: Partial<ClusterSpec> },
    body: (world: TestWorld) => Promise<void>,
  ): Promise<void> {
    const { spec = tiny, ...rest } = options;
    await TestWorld.run(rest, async (world) => {
      await world.createCluster(spec);
      await world.untilReconciled();
      await world.clock.advance(minuteMs);
      await body(world);
    });
  }

  get client(): World["client"] {
    return this.world.client;
  }

  async close(): Promise<void> {
    await this.during(this.world.stop(), 10 * minuteMs, "the end of the world");
  }

  /** Lets time pass until a promise is fulfilled. */
  async during<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    const until = (): boolean => isDone;
    promise.then(done, done);
    await this.clock.run({ until, untilMs: this.clock.nowMs() + limitMs });
    // Files that are read and archives that are packed take real time, of which a busy machine may have little for them.
    for (let tries = 0; !until() && tries < realTries; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, realPauseMs));
      await this.clock.run({ until, untilMs: this.clock.nowMs() + realPauseMs });
    }
    if (!until()) throw new Error(`${what} took more than ${limitMs} ms\n${this.lastLines()}`);
    return promise;
  }

  async createCluster(spec: Partial<ClusterSpec> = {}, name: ClusterName = {}): Promise<void> {
    await this.client.create(foundationDbClusters, clusterOf(spec, name));
  }

  createNamespace(name: string): Promise<unknown> {
    return this.client.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    });
  }

  cluster({ name = "sample", namespace = "default" }: ClusterName = {}): Promise<
    Stored<FoundationDBCluster>
  > {
    return this.client.get(foundationDbClusters, { namespace, name });
  }

  changeSpec(change: object, { name = "sample", namespace = "default" }: ClusterName = {}) {
    const body = { spec: change };
    return this.client.patch(foundationDbClusters, { namespace, name }, body, { type: "merge" });
  }

  async pods(processClass?: string, namespace = "default"): Promise<Stored<Pod>[]> {
    const labelSelector =
      processClass === undefined
        ? "foundationdb.org/fdb-process-group-id"
        : `foundationdb.org/fdb-process-class=${processClass}`;
    return (await this.client.list(pods, { namespace, labelSelector })).items;
  }

  async events(reason: string, namespace = "default"): Promise<Stored<Event>[]> {
    const { items } = await this.client.list(events, { namespace });
    return items.filter((event) => event.reason === reason);
  }

  /** Lets time pass until the newest generation is in force; how long it took. */
  async untilReconciled(limitMs = 5 * minuteMs, name: ClusterName = {}): Promise<number> {
    return this.until(
      async () => {
        const { metadata, status } = await this.cluster(name);
        return (
          status?.generations?.reconciled === metadata.generation &&
          conditionIn(status, "Reconciled")?.status === "True"
        );
      },
      "the cluster is reconciled",
      limitMs,
      name,
    );
  }

  async until(
    condition: () => Promise<boolean>,
    what: string,
    limitMs = 5 * minuteMs,
    name: ClusterName = {},
  ): Promise<number> {
    const startedMs = this.clock.nowMs();
    while (!(await condition())) {
      if (this.clock.nowMs() - startedMs >= limitMs) {
        throw new Error(`not so after ${limitMs / 1000} s: ${what}\n${await this.report(name)}`);
      }
      await this.clock.advance(500);
    }
    return this.clock.nowMs() - startedMs;
  }

  /** Why the cluster is as it is, for a person who reads a failed test. */
  async report(name: ClusterName = {}): Promise<string> {
    const { metadata, status } = await this.cluster(name);
    const conditions = (status?.conditions ?? []).map(
      ({ type, status: value, reason, message }) => `  ${type}=${value} ${reason}: ${message}`,
    );
    const blocked = (status?.blockedBy ?? []).map(
      ({ step, reason, message }) => `  blocked in ${step} by ${reason}: ${message}`,
    );
    const groups = (status?.processGroups ?? []).flatMap((group) => {
      const found = (group.processGroupConditions ?? []).map(({ type }) => type);
      return found.length === 0 ? [] : [`  ${group.processGroupID}: ${found.join(", ")}`];
    });
    const head = `generation ${metadata.generation}, ${JSON.stringify(status?.generations)}`;
    return [head, ...conditions, ...blocked, ...groups, this.lastLines()].join("\n");
  }

  lastLines(count = 25): string {
    return this.trace
      .lines()
      .slice(-count)
      .map((line) => `  | ${line.slice(0, 240)}`)
      .join("\n");
  }

  /** Writes of the operator since a mark (a length of `requests`), as "verb plural". */
  writesSince(mark: number): string[] {
    return this.requests
      .slice(mark)
      .filter(({ verb }) => verb !== "get" && verb !== "list" && verb !== "watch")
      .map(({ verb, resource, subresource, name }) => {
        const kind =
          subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
        return `${verb} ${kind} ${name ?? ""}`.trim();
      });
  }

  /** Fails when anything that was ever committed is gone, or a database cannot be used. */
  assertDataSafe(databases = 1): void {
    const found = this.world.fdb.truth.databases().filter((database) => database.isConfigured);
    assert.equal(found.length, databases, "databases");
    assert.deepEqual(this.world.fdb.truth.dataLost(), []);
    for (const database of found) {
      assert.ok(database.isAvailable, `${database.description} is not available`);
      assert.ok(!database.areLogsLost && !database.isForgotten, database.description);
    }
  }
}

export function nameOf(object: { metadata: { name?: string } }): string {
  return object.metadata.name ?? "";
}

export function keyOfObject(object: { metadata: { name?: string; namespace?: string } }): {
  namespace?: string;
  name: string;
} {
  const { namespace, name = "" } = object.metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}
