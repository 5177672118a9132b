// What stays while servers on adopted disks have just started, or served a while ago, and what goes all the same.
// Rules: spec/adoption.md [ADO22], [ADO24], spec/restart.md [T42].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { DatabaseObservation, Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

/** A database on disks that does not serve, whose pods are to be made anew. */
class SilentWorld extends PlanWorld {
  constructor() {
    super({
      processCounts: { storage: 4, log: 3, stateless: 1 },
      databaseConfiguration: { redundancy_mode: "double" },
      automationOptions: { podUpdateStrategy: "Delete" },
      routing: { useDNSInClusterFile: true },
    });
    assert.ok(this.settle().isReconciled);
    this.nowMs += 600_000;
    const { status } = this.cluster;
    this.cluster = { ...this.cluster, status: { ...status, configured: false } };
    const env = [{ name: "ANSWER", value: "42" }];
    this.changeSpec({
      adopt: { volumes: { matchLabels: { "foundationdb.org/fdb-cluster-name": "sample" } } },
      seedConnectionString: status?.connectionString ?? "",
      processes: {
        general: { podTemplate: { spec: { containers: [{ name: "foundationdb", env }] } } },
      },
    });
  }

  override database(): DatabaseObservation {
    const seen = super.database();
    if (this.cluster.spec.adopt === undefined || seen.kind === "missing") return seen;
    const { connection_string } = seen.status.cluster ?? {};
    const status = {
      client: {
        coordinators: { coordinators: [], quorum_reachable: true },
        database_status: { available: false, healthy: false },
      },
      cluster: connection_string === undefined ? {} : { connection_string },
    };
    return { ...seen, status };
  }

  /** The first pod of a class. */
  edit(processClass: string, change: (pod: Stored<Pod>) => Pod["status"]): string {
    const found = [...this.pods].find(([name]) => name.startsWith(`sample-${processClass}-`));
    assert.ok(found !== undefined);
    const [name, pod] = found;
    this.pods.set(name, { ...pod, status: change(pod) });
    return name;
  }

  /** The container of a pod that is ten minutes old has just started. */
  startAgain(processClass: string): string {
    const running = { startedAt: formatTime(this.nowMs - 2_000) };
    const main = { name: "foundationdb", ready: true, restartCount: 1, image: "", imageID: "" };
    const containerStatuses = [{ ...main, state: { running } }];
    return this.edit(processClass, ({ status }) => ({ ...status, containerStatuses }));
  }

  /** Which pods go and why, and what is told of those that stay. */
  outcome(overrides: Partial<Snapshot> = {}): { going: string[]; told: string | undefined } {
    const plan = this.plan(overrides);
    const going = plan.actions.flatMap((action) =>
      action.type === "deletePods"
        ? action.pods.map(({ processGroupId }) => `${action.because} ${processGroupId}`)
        : [],
    );
    const told = plan.waits.find(({ step }) => step === "updatePods")?.message;
    return { going: going.sort(), told };
  }
}

test("[ADO22] pods on adopted disks go all at once when all servers had a minute, and none before", () => {
  const world = new SilentWorld();
  const { going } = world.outcome();
  assert.equal(going.length, 8, going.join());
  const young = world.startAgain("log");
  const held = world.outcome();
  assert.deepEqual(held.going, []);
  const told = `servers have run for less than a minute in ${young}`;
  assert.ok(held.told?.includes(told), held.told);
  world.nowMs += 60_000;
  assert.equal(world.outcome().going.length, 8);
});

test("[ADO22] [T42] pods that have not started go at once, and it is told why the others stay", () => {
  const world = new SilentWorld();
  world.startAgain("log");
  const unstarted = world.edit("storage", () => ({ phase: "Pending" }));
  const { going, told } = world.outcome();
  assert.deepEqual(going, [`unstarted ${unstarted.slice("sample-".length)}`]);
  assert.match(told ?? "", /The database may be about to serve/);
});

test("[ADO24] a database that has served lately is taken to come back by itself, for ten minutes", () => {
  const world = new SilentWorld();
  const { nowMs } = world;
  const held = world.outcome({ servedMs: nowMs - 599_000 });
  assert.deepEqual(held.going, []);
  assert.match(held.told ?? "", /has seen it serve less than ten minutes ago/);
  assert.equal(world.outcome({ servedMs: nowMs - 600_000 }).going.length, 8);
});

test("[ADO24] an operator that has just started looks for a minute first", () => {
  const world = new SilentWorld();
  const { nowMs } = world;
  for (const heardSinceMs of [undefined, nowMs - 59_000]) {
    assert.deepEqual(world.outcome({ heardSinceMs }).going, []);
  }
  assert.equal(world.outcome({ heardSinceMs: nowMs - 60_000 }).going.length, 8);
});
