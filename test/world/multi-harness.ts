// Several Kubernetes clusters with an operator each and one database, in virtual time. Each cluster has one resource,
// named and prefixed like the cluster.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import { readSets } from "../../src/fdb/coordination-sets.ts";
import { operatorKeys, storedSets } from "../../src/fdb/keys.ts";
import type { SharedKeys } from "../../src/fdb/shared-keys.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import type { Action } from "../../src/plan/action.ts";
import type { DatabaseTruth } from "../../src/sim/database/ground-truth.ts";
import { OperatorLinks } from "../../src/sim/faults/operator-links.ts";
import { startMultiWorld } from "../../src/sim/multi-world.ts";
import type { MultiWorld } from "../../src/sim/multi-world.ts";
import { skewedClock } from "../../src/sim/skewed-clock.ts";
import type { Skew, SkewedClock } from "../../src/sim/skewed-clock.ts";
import { Trace } from "../../src/sim/trace.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { dnsDomainOf } from "../../src/sim/world.ts";
import { listen, minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

type Spec = Partial<ClusterSpec>;
type SiteChange = Omit<TestWorldOptions, "clock" | "name" | "addressBlock">;

export interface MultiTestOptions extends SiteChange {
  names: readonly string[];
  /** Name of the resource, if it is the same in all clusters; otherwise that of its cluster. */
  resource?: string;
  /** By name; clocks of the others are right. */
  skews?: Readonly<Record<string, Skew>>;
  /** Gets every line of the history. */
  onLine?: (line: string) => void;
  /** What differs from cluster to cluster. */
  siteOf?: (name: string, clock: VirtualClock) => SiteChange;
}

export class MultiTestWorld {
  readonly clock = new VirtualClock();
  readonly startMs = this.clock.nowMs();
  readonly trace: Trace;
  readonly names: readonly string[];
  readonly multi: MultiWorld;
  readonly worlds: readonly TestWorld[];
  readonly #resource: string | undefined;
  readonly #mistakes: string[] = [];
  readonly #clocks = new Map<string, SkewedClock>();
  readonly #links: ReadonlyMap<string, OperatorLinks>;

  private constructor(options: MultiTestOptions) {
    const { names, resource, skews = {}, siteOf, onLine, ...others } = options;
    const { keepLines = 200, seed = 1, database, ...rest } = others;
    const { clock } = this;
    const hear = (line: string): void => {
      onLine?.(line);
      // An API server that is away may cost a pass its writes; anything else that ends one is a mistake.
      if (/ a pass failed /.test(line) && !line.includes('"stack":"KubeError')) {
        this.#mistakes.push(line);
      }
    };
    const trace = new Trace({ clock, keepLines, onLine: hear });
    this.names = names;
    this.#resource = resource;
    this.trace = trace;
    const sites = names.map((name) => {
      const site = { nodes: 5, ...rest, ...siteOf?.(name, clock), name };
      const { listeners, ...heard } = listen(site);
      const links = new OperatorLinks(clock, keyedRandom(seed, `${name} links`));
      const skew = skews[name];
      const skewed = skew && skewedClock(clock, skew);
      if (skewed !== undefined) this.#clocks.set(name, skewed);
      const operatorClock = skewed === undefined ? {} : { operatorClock: skewed };
      return {
        ...{ heard, links },
        site: {
          ...{ ...site, ...listeners, ...operatorClock },
          wrapTransport: (transport: KubeTransport) =>
            links.wrapTransport(site.wrapTransport?.(transport) ?? transport),
          wrapAdmin: (admin: AdminClientFactory) =>
            links.wrapAdmin(site.wrapAdmin?.(admin) ?? admin),
        },
      };
    });
    this.#links = new Map(sites.map(({ site, links }) => [site.name, links]));
    this.multi = startMultiWorld({
      ...{ clock, trace, seed, database },
      sites: sites.map(({ site }) => site),
    });
    this.worlds = this.multi.worlds.map((world, index) => {
      const heard = sites[index]?.heard ?? listen();
      return new TestWorld({ ...heard, clock, trace, world });
    });
  }

  /** Opens the clusters, runs the body and closes them whatever happens. */
  static async run(
    options: MultiTestOptions,
    body: (world: MultiTestWorld) => Promise<void>,
  ): Promise<void> {
    const world = new MultiTestWorld(options);
    await world.first.during(world.multi.started, minuteMs, "the start of the clusters");
    try {
      await body(world);
      assert.deepEqual(world.#mistakes, []);
    } finally {
      await world.first.during(world.multi.stop(), 10 * minuteMs, "the end of the clusters");
    }
  }

  get first(): TestWorld {
    return this.at(this.names[0] ?? "");
  }

  at(name: string): TestWorld {
    const found = this.worlds.find(({ world }) => world.name === name);
    assert.ok(found, name);
    return found;
  }

  /** Between the operator of a cluster and the rest. */
  links(name: string): OperatorLinks {
    const found = this.#links.get(name);
    assert.ok(found, name);
    return found;
  }

  /** Somebody sets the clock of an operator forward; it must be one of the skewed ones. */
  stepClock(name: string, byMs: number): void {
    const found = this.#clocks.get(name);
    assert.ok(found, name);
    found.step(byMs);
  }

  /** The operator is gone from one moment to the next, whatever it was doing. */
  async crashOperator(name: string): Promise<void> {
    this.links(name).life.die();
    await this.at(name).during(this.at(name).world.stopOperator(), minuteMs, "its end");
  }

  startOperator(name: string): void {
    this.at(name).world.startOperator();
  }

  /** The resource of a cluster. */
  cluster(name: string): ReturnType<TestWorld["cluster"]> {
    return this.at(name).cluster(this.#resourceOf(name));
  }

  #resourceOf(name: string): { name: string } {
    return { name: this.#resource ?? name };
  }

  /** The first cluster creates the database; when it is up, the others join through its connection string. */
  async createJoined(specOf: (name: string) => Spec): Promise<void> {
    const [first = "", ...others] = this.names;
    await this.at(first).createCluster(joinable(first, specOf(first)), { name: first });
    await this.at(first).untilReconciled(10 * minuteMs, { name: first });
    const { status } = await this.cluster(first);
    const seedConnectionString = status?.connectionString ?? "";
    for (const name of others) {
      const spec = joinable(name, { ...specOf(name), seedConnectionString });
      await this.at(name).createCluster(spec, { name });
    }
  }

  /** One after the other, as a deployment pipeline would. */
  async changeAll(change: object | ((name: string) => object)): Promise<void> {
    for (const name of this.names) {
      const own = typeof change === "function" ? change(name) : change;
      await this.at(name).changeSpec(own, this.#resourceOf(name));
    }
  }

  /** Lets time pass until all are reconciled at one moment; how long it took. */
  async untilAllReconciled(limitMs = 30 * minuteMs): Promise<number> {
    const startMs = this.clock.nowMs();
    for (;;) {
      const late = await this.late();
      if (late === undefined) return this.clock.nowMs() - startMs;
      if (this.clock.nowMs() - startMs >= limitMs) {
        const reports = this.names.map(
          async (name) => `${name}: ${await this.at(name).report(this.#resourceOf(name))}`,
        );
        throw new Error(`not all reconciled\n${(await Promise.all(reports)).join("\n")}`);
      }
      await this.clock.advance(500);
    }
  }

  /** A cluster that is not reconciled. */
  async late(): Promise<string | undefined> {
    for (const { client, world } of this.worlds) {
      for (const { metadata, status } of (await client.list(foundationDbClusters)).items) {
        const isReady =
          status?.generations?.reconciled === metadata.generation &&
          conditionIn(status, "Reconciled")?.status === "True";
        if (!isReady) return world.name;
      }
    }
    return undefined;
  }

  /** Acts of one type that any operator carried out, in order. */
  acts<T extends Action["type"]>(
    type: T,
    sinceMs = 0,
  ): { name: string; atMs: number; action: Action & { type: T } }[] {
    return this.worlds
      .flatMap(({ world: { name }, activities }) =>
        activities.flatMap((activity) =>
          activity.type === "action" &&
          activity.error === undefined &&
          activity.action.type === type &&
          activity.atMs >= sinceMs
            ? [{ name, atMs: activity.atMs, action: activity.action as Action & { type: T } }]
            : [],
        ),
      )
      .toSorted((left, right) => left.atMs - right.atMs);
  }

  /** Reads or writes keys of the operators, as somebody who is none of them. */
  async withKeys<T>(use: (shared: SharedKeys) => Promise<T>): Promise<T> {
    const { connectionString } = this.database;
    const version = (await this.cluster(this.names[0] ?? "")).status?.runningVersion ?? "";
    const admin = this.multi.ground.fdb.admin.open({ name: "test", connectionString, version });
    const used = use({ admin, keys: operatorKeys() });
    const result = await this.first.during(used, minuteMs, "a look at the keys");
    admin.close();
    return result;
  }

  /** What is left in the coordination sets. */
  async entries(): Promise<string[]> {
    const sets = await this.withKeys((shared) => readSets(shared, storedSets));
    return storedSets.flatMap((set) =>
      [...sets[set].entries, ...sets[set].foreign].map((entry) => `${set}/${entry.processGroupId}`),
    );
  }

  /** Lets time pass until nobody has anything left in the coordination sets. */
  async untilNoEntries(limitMs = 30 * minuteMs): Promise<void> {
    const startMs = this.clock.nowMs();
    for (;;) {
      const left = await this.entries();
      if (left.length === 0) return;
      assert.ok(this.clock.nowMs() - startMs < limitMs, `entries are left: ${left.join(", ")}`);
      await this.clock.advance(10_000);
    }
  }

  /** The one database of all. */
  get database(): DatabaseTruth {
    const found = this.multi.ground.fdb.truth.databases().filter((one) => one.isConfigured);
    assert.equal(found.length, 1, "databases");
    const [database] = found;
    assert.ok(database);
    return database;
  }

  assertDataSafe(): void {
    this.first.assertDataSafe(1);
  }
}

/** Pods of the other clusters find its pods by name. */
function joinable(name: string, spec: Spec): Spec {
  const routing = { ...spec.routing, dnsDomain: dnsDomainOf(name) };
  return { processGroupIDPrefix: name, ...spec, routing };
}
