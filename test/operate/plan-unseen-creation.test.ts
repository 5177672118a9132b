// A database behind a connection string that the operator made up itself is created before anybody asks for a status.
// Rules: spec/plan.md [P102], [P103].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { actRefusal } from "../../src/plan/safety/act-refusal.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld, startMs } from "./plan-world.ts";

const small = {
  processCounts: { storage: 1, log: 1, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "single" },
} as const satisfies Partial<ClusterSpec>;

const asking: Snapshot["database"] = {
  ...{ kind: "missing", reason: "Asking", message: "not yet", sinceMs: startMs },
};

interface Started {
  world: PlanWorld;
  /** As the operator knows it that made the connection string. */
  own: Partial<Snapshot>;
}

/** Pods run with a connection string that was made here; nobody has asked the database anything. */
function started(spec: Partial<ClusterSpec> = small): Started {
  const world = new PlanWorld(spec);
  const { cluster } = world;
  const metadata = { ...cluster.metadata, creationTimestamp: formatTime(startMs) };
  world.cluster = { ...cluster, metadata };
  world.isDatabaseReachable = false;
  let made: string | undefined;
  for (let count = 0; count < 4; count += 1) {
    made = world.pass().madeConnectionString ?? made;
    world.nowMs += 2_000;
    world.runPods();
  }
  return { world, own: { database: asking, madeConnectionString: made } };
}

function creationIn(plan: Plan) {
  return plan.actions.flatMap((action) => (action.type === "configureDatabase" ? [action] : []));
}

test("[P102] a database behind our own new connection string is created without a status", () => {
  const { world, own } = started();
  assert.equal(own.madeConnectionString, world.cluster.status?.connectionString);
  const [creation, ...more] = creationIn(world.plan(own));
  assert.ok(creation?.isNew);
  assert.match(creation.arguments, /^new single ssd-2 /);
  assert.equal(creation.evidenceMs, 0);
  assert.deepEqual(more, []);
});

test("[P102] it is created when every pod runs with its configuration", () => {
  const { world, own } = started();
  const [name = "", pod] = [...world.pods].find(([each]) => each.includes("log")) ?? [];
  assert.ok(pod);
  world.pods.set(name, { ...pod, status: { ...pod.status, phase: "Pending" } });
  const plan = world.plan(own);
  assert.deepEqual(creationIn(plan), []);
  const wait = plan.waits.find(({ step }) => step === "updateDatabaseConfiguration");
  assert.equal(wait?.reason, "ProcessesMissing");
  assert.match(wait.message, /missing: log-/);
});

/** What keeps a database from being created unseen: what the operator knows, what the spec says, what was there before. */
const obstacles: Record<string, (started: Started) => Partial<Snapshot>> = {
  "another operator made the connection string": () => ({ madeConnectionString: undefined }),
  "it is another connection string": () => ({ madeConnectionString: "sample:other@10.0.0.1:4501" }),
  "another database answers": () => ({ database: { ...asking, reason: "Foreign" } }),
  "a first attempt was made": ({ world }) => ({ lastDatabaseWriteMs: world.nowMs - 1 }),
  "it was created before": ({ world }) => ({
    cluster: { ...world.cluster, status: { ...world.cluster.status, configured: true } },
  }),
  "a connection string was given": ({ world }) => {
    const seedConnectionString = world.cluster.status?.connectionString ?? "";
    return { cluster: { ...world.cluster, spec: { ...world.cluster.spec, seedConnectionString } } };
  },
  "volumes are older than the resource": ({ world }) => {
    const creationTimestamp = formatTime(world.nowMs + 1_000);
    const metadata = { ...world.cluster.metadata, creationTimestamp };
    return { cluster: { ...world.cluster, metadata } };
  },
  "the operator may not configure": ({ world }) => {
    const automationOptions = { configureDatabase: false };
    return { cluster: { ...world.cluster, spec: { ...world.cluster.spec, automationOptions } } };
  },
  "processes must be seen in their halls": ({ world }) => {
    const databaseConfiguration = { redundancy_mode: "three_data_hall" } as const;
    const spec = { ...world.cluster.spec, databaseConfiguration };
    return { cluster: { ...world.cluster, spec } };
  },
  "the database lies in regions": ({ world }) => {
    const regions = [{ datacenters: [{ id: "dc1", priority: 1 }] }];
    const spec = { ...world.cluster.spec, databaseConfiguration: { regions } };
    return { cluster: { ...world.cluster, spec } };
  },
};

for (const [title, change] of Object.entries(obstacles)) {
  test(`[P103] no database is created unseen when ${title}`, () => {
    const scene = started();
    const { world, own } = scene;
    const [creation] = creationIn(world.plan(own));
    assert.ok(creation);
    assert.equal(actRefusal(world.snapshot(own), creation), undefined);
    const changed = { ...own, ...change(scene) };
    assert.deepEqual(creationIn(world.plan(changed)), []);
    // The guard looks for itself.
    assert.equal(actRefusal(world.snapshot(changed), creation)?.reason, "StatusIncomplete");
  });
}

test("[P103] a status that came since the decision is looked at first", () => {
  const { world, own } = started();
  const [creation] = creationIn(world.plan(own));
  assert.ok(creation);
  world.isDatabaseReachable = true;
  const seen = world.snapshot({ ...own, database: world.database() });
  assert.equal(actRefusal(seen, creation)?.reason, "EvidenceStale");
});
