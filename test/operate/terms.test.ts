// Several instances of the operator over one Lease, in virtual time: who works when one is cut off, stopped or alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/error.ts";
import { LeaderElector } from "../../src/kube/lease.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import type { Operator } from "../../src/operate/operator.ts";
import { runTerms } from "../../src/operate/terms.ts";
import { minuteMs, tiny, TestWorld } from "../world/world-harness.ts";

interface Instance {
  elector: LeaderElector;
  /** Operators of all terms, the last one now. */
  operators: Operator[];
  isCut: boolean;
  /** Which of its requests hang for half a minute before they are carried out, unless they are given up. */
  hangs: "none" | "lease" | "writes";
  stop: () => void;
  ended: Promise<void>;
  writes: number;
}

function startInstance({ world, clock }: TestWorld, identity: string): Instance {
  const inner = world.server.transport(identity);
  const stop = new AbortController();
  const transport: KubeTransport = {
    request: async (request) => {
      if (instance.isCut) throw new KubeError(0, "Unreachable", "cut");
      const isLease = request.path.includes("/leases");
      const isWrite = request.method !== "GET" && !isLease;
      const { hangs } = instance;
      if (isLease ? hangs !== "none" : isWrite && hangs === "writes") {
        await sleep(clock, 30_000, request.signal);
        if (request.signal?.aborted === true) throw new KubeError(0, "Aborted", "given up");
      }
      if (isWrite) instance.writes += 1;
      return inner.request(request);
    },
    watch: async (request, onEvent) => {
      if (instance.isCut) throw new KubeError(0, "Unreachable", "cut");
      return inner.watch(request, (event) => {
        if (!instance.isCut) onEvent(event);
      });
    },
  };
  const random = keyedRandom(1, identity);
  const client = new KubeClient(transport, { userAgent: identity });
  const elector = new LeaderElector({
    client,
    clock,
    random,
    identity,
    lease: { namespace: "default" },
  });
  const { fdb, network: podNetwork } = world;
  const instance: Instance = {
    elector,
    operators: [],
    isCut: false,
    hangs: "none",
    writes: 0,
    stop: () => stop.abort(),
    ended: Promise.resolve(),
  };
  instance.ended = runTerms({
    operator: { transport, admin: fdb.admin, podNetwork, clock, random, log: silentLog },
    elector,
    log: silentLog,
    signal: stop.signal,
    onOperator: (operator) => instance.operators.push(operator),
  });
  return instance;
}

async function twoInstances(): Promise<{
  testWorld: TestWorld;
  first: Instance;
  second: Instance;
}> {
  const testWorld = await TestWorld.open();
  await testWorld.during(testWorld.world.stopOperator(), minuteMs, "the stop");
  const first = startInstance(testWorld, "first");
  await testWorld.clock.advance(5_000);
  const second = startInstance(testWorld, "second");
  await testWorld.clock.advance(5_000);
  assert.ok(first.elector.isLeader && !second.elector.isLeader);
  return { testWorld, first, second };
}

async function endAll(testWorld: TestWorld, ...instances: Instance[]): Promise<void> {
  for (const instance of instances) instance.stop();
  await testWorld.clock.advance(minuteMs);
  await Promise.all(instances.map((instance) => instance.ended));
  await testWorld.close();
}

test("[RUN22] who waits works within a second after the Lease was given back, and not before", async () => {
  const { testWorld, first, second } = await twoInstances();
  await testWorld.createCluster(tiny);
  await testWorld.untilReconciled();
  assert.equal(second.writes, 0);
  assert.deepEqual(second.operators[0]?.health().notReady, []);
  first.stop();
  await testWorld.clock.advance(1_000);
  await first.ended;
  await second.operators[0]?.started;
  assert.ok(second.elector.isLeader);
  assert.ok((second.operators[0]?.counters().passes ?? 0) > 0);
  await endAll(testWorld, second);
});

test("[RUN23] who lost the Lease to another one waits, begins anew and takes over when it can", async () => {
  const { testWorld, first, second } = await twoInstances();
  const { clock } = testWorld;
  first.isCut = true;
  await clock.advance(minuteMs);
  assert.ok(second.elector.isLeader && !first.elector.isLeader);
  const before = first.writes;
  await testWorld.createCluster(tiny);
  await testWorld.untilReconciled();
  assert.equal(first.writes, before);
  assert.ok(second.writes > 0);
  first.isCut = false;
  await clock.advance(minuteMs);
  assert.equal(first.operators.length, 2);
  assert.deepEqual(first.operators[1]?.health().notReady, []);
  second.stop();
  await clock.advance(1_000);
  assert.ok(first.elector.isLeader);
  await endAll(testWorld, first);
});

for (const hangs of ["lease", "writes"] as const) {
  test(`[RUN28] [KUBE69] who cannot renew writes nothing when another one leads: ${hangs} hang`, async () => {
    const { testWorld, first, second } = await twoInstances();
    const { clock } = testWorld;
    await testWorld.createCluster(tiny);
    await testWorld.untilReconciled();
    first.hangs = hangs;
    const startMs = clock.nowMs();
    await testWorld.changeSpec({ processCounts: { stateless: 3 } });
    while (!second.elector.isLeader) {
      await clock.advance(100);
      assert.ok(!(first.elector.isLeader && second.elector.isLeader), "two lead");
    }
    assert.ok(clock.nowMs() - startMs < 20_000);
    const before = first.writes;
    await testWorld.changeSpec({ processCounts: { stateless: 4 } });
    await testWorld.untilReconciled();
    await clock.advance(minuteMs);
    assert.equal(first.writes, before);
    assert.ok(second.writes > 0);
    first.hangs = "none";
    await endAll(testWorld, first, second);
  });
}

test("[RUN23] when the API server was away for a minute, somebody leads again and works (long)", async () => {
  const { testWorld, first, second } = await twoInstances();
  const { clock } = testWorld;
  await testWorld.createCluster(tiny);
  await testWorld.untilReconciled();
  first.isCut = true;
  second.isCut = true;
  await clock.advance(minuteMs);
  assert.ok(!first.elector.isLeader && !second.elector.isLeader);
  for (const { operators } of [first, second])
    assert.deepEqual(operators.at(-1)?.health().notAlive, []);
  first.isCut = false;
  second.isCut = false;
  await clock.advance(minuteMs);
  assert.equal(Number(first.elector.isLeader) + Number(second.elector.isLeader), 1);
  await testWorld.changeSpec({ processCounts: { stateless: 2 } });
  await testWorld.untilReconciled();
  await endAll(testWorld, first, second);
});
