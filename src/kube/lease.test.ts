// Leader election of several instances over one Lease, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../env/random.ts";
import { sleep } from "../env/clock.ts";
import type { Clock } from "../env/clock.ts";
import { skewedClock } from "../sim/skewed-clock.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { KubeClient } from "./client.ts";
import { KubeError } from "./error.ts";
import type { Lease } from "./generated/types.ts";
import { LeaderElector, defaultLeaseName } from "./lease.ts";
import type { Stored } from "./resource.ts";
import { statusAnswer } from "../../test/fixtures/scripted-transport.ts";
import type { KubeRequest, KubeResponse, KubeTransport, WatchEvent } from "./transport.ts";

/** A server that knows one lease and refuses lost races; it can be cut off. */
class LeaseServer implements KubeTransport {
  lease: Stored<Lease> | undefined;
  isReachable = true;
  /** Requests never end, and are carried out all the same. */
  isHanging = false;
  readonly methods: string[] = [];
  #version = 0;

  async request(request: KubeRequest): Promise<KubeResponse> {
    if (!this.isReachable) throw new KubeError(0, "Unreachable", "cut");
    const answer = this.#answer(request);
    return this.isHanging ? new Promise(() => {}) : answer;
  }

  #answer(request: KubeRequest): KubeResponse {
    this.methods.push(request.method);
    const body = request.body as Stored<Lease>;
    if (request.method === "GET") {
      return this.lease === undefined
        ? statusAnswer(404, "NotFound", "no lease")
        : { status: 200, body: this.lease };
    }
    const known = this.lease?.metadata.resourceVersion;
    if (request.method === "POST" && this.lease !== undefined) {
      return statusAnswer(409, "AlreadyExists", "there is one");
    }
    if (request.method === "PUT" && body.metadata.resourceVersion !== known) {
      return statusAnswer(409, "Conflict", "lost the race");
    }
    this.#version += 1;
    this.lease = { ...body, metadata: { ...body.metadata, resourceVersion: `${this.#version}` } };
    for (const tell of this.#watchers) tell({ type: "MODIFIED", object: this.lease });
    return { status: 200, body: this.lease };
  }

  /** Whether leases may be watched, and who does. */
  isWatchable = false;
  readonly #watchers = new Set<(event: WatchEvent) => void>();

  watch(request: KubeRequest, onEvent: (event: WatchEvent) => void): Promise<void> {
    if (!this.isWatchable || !this.isReachable) {
      return Promise.reject(new KubeError(403, "Forbidden", "leases may not be watched"));
    }
    assert.equal(request.query?.["fieldSelector"], `metadata.name=${defaultLeaseName}`);
    this.#watchers.add(onEvent);
    return new Promise((resolve) => {
      request.signal?.addEventListener("abort", () => {
        this.#watchers.delete(onEvent);
        resolve();
      });
    });
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }
}

function worldOf() {
  const clock = new VirtualClock();
  const history: string[] = [];
  const start = (identity: string, server: LeaseServer) => {
    const elector = new LeaderElector({
      client: new KubeClient(server, { userAgent: identity }),
      clock,
      random: seededRandom(identity.charCodeAt(0)),
      lease: { namespace: "db" },
      identity,
    });
    const stop = new AbortController();
    void elector
      .run(stop.signal, (term) => {
        history.push(`${identity} leads`);
        return new Promise((resolve) => term.addEventListener("abort", () => resolve()));
      })
      .then((outcome) => history.push(`${identity} ${outcome}`));
    return { elector, stop };
  };
  return { clock, history, start };
}

test("[KUBE66] without a name of its own, the lease is that of the Go operator", async () => {
  const { clock, start } = worldOf();
  const server = new LeaseServer();
  const { stop } = start("a", server);
  await clock.advance(1);
  assert.deepEqual(
    [server.lease?.metadata.namespace, server.lease?.metadata.name],
    ["db", defaultLeaseName],
  );
  assert.equal(defaultLeaseName, "fdb-kubernetes-operator");
  stop.abort();
  await clock.advance(1);
});

test("[KUBE60] exactly one instance leads, and its lease has times with six digits", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  const first = start("a", server);
  await clock.advance(1);
  const second = start("b", server);
  await clock.advance(60_000);
  assert.deepEqual(history, ["a leads"]);
  assert.ok(first.elector.isLeader && !second.elector.isLeader);
  const spec = server.lease?.spec;
  assert.equal(spec?.holderIdentity, "a");
  assert.equal(spec.leaseDurationSeconds, 15);
  assert.equal(spec.acquireTime, "2026-01-01T00:00:00.000000Z");
  assert.match(spec.renewTime ?? "", /^2026-01-01T00:0[01]:\d\d\.\d{6}Z$/);
});

test("[KUBE61] a stopped leader gives the lease back, and the next one leads at its next look", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  const first = start("a", server);
  start("b", server);
  await clock.advance(10_000);
  first.stop.abort();
  await clock.advance(2500);
  assert.deepEqual(history, ["a leads", "a stopped", "b leads"]);
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
});

test("[KUBE61] a lease won at the moment of the stop is given back unused", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  const { stop, elector } = start("a", server);
  stop.abort();
  await clock.advance(0);
  assert.deepEqual(history, ["a stopped"]);
  assert.equal(elector.isLeader, false);
  assert.equal(server.lease?.spec?.holderIdentity, "");
});

test("[KUBE61] a leader whose work fails gives the lease back and passes the failure on", async () => {
  const clock = new VirtualClock();
  const server = new LeaseServer();
  const elector = new LeaderElector({
    client: new KubeClient(server, { userAgent: "a" }),
    clock,
    random: seededRandom(1),
    lease: { namespace: "db", name: "operator" },
    identity: "a",
  });
  const outcome = assert.rejects(
    elector.run(new AbortController().signal, () => Promise.reject(new Error("broken work"))),
    /broken work/,
  );
  await clock.advance(0);
  await outcome;
  assert.equal(server.lease?.spec?.holderIdentity, "");
});

test("[KUBE62] a leader that cannot renew gives up before another can take over", async () => {
  const { clock, history, start } = worldOf();
  const [shared, link] = [new LeaseServer(), new LeaseServer()];
  link.request = (request) =>
    link.isReachable
      ? shared.request(request)
      : Promise.reject(new KubeError(0, "Unreachable", "cut"));
  const first = start("a", link);
  start("b", shared);
  await clock.advance(10_000);
  assert.deepEqual(history, ["a leads"]);
  link.isReachable = false;
  await clock.run({ until: () => history.length === 2 });
  assert.deepEqual(history, ["a leads", "a lost"]);
  assert.equal(first.elector.remainingMs(), 0);
  await clock.advance(20_000);
  assert.deepEqual(history, ["a leads", "a lost", "b leads"]);
});

test("[KUBE63] a lease taken by another ends the term at once", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  start("a", server);
  await clock.advance(4000);
  const held = server.lease;
  assert.ok(held);
  const metadata = { ...held.metadata, resourceVersion: "99" };
  server.lease = { ...held, metadata, spec: { ...held.spec, holderIdentity: "z" } };
  await clock.advance(2500);
  assert.deepEqual(history, ["a leads", "a lost"]);
});

test("[KUBE64] whether a lease has run out is judged by our own clock, not by the times in it", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  server.lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "db", name: "operator", resourceVersion: "1" },
    spec: {
      holderIdentity: "z",
      leaseDurationSeconds: 15,
      renewTime: "2001-01-01T00:00:00.000000Z",
    },
  };
  start("a", server);
  await clock.advance(14_000);
  assert.deepEqual(history, []);
  await clock.advance(4000);
  assert.deepEqual(history, ["a leads"]);
});

test("[KUBE65] remainingMs counts from the last renewal: the fence before a disruptive act", async () => {
  const { clock, start } = worldOf();
  const server = new LeaseServer();
  const { elector } = start("a", server);
  assert.equal(elector.remainingMs(), 0);
  await clock.advance(0);
  assert.equal(elector.remainingMs(), 15_000);
  server.isReachable = false;
  await clock.advance(5000);
  assert.ok(elector.remainingMs() <= 10_000);
});

test("[KUBE67] a lease that is given back is taken at once by who watches it", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  server.isWatchable = true;
  const first = start("a", server);
  await clock.advance(1);
  const second = start("b", server);
  await clock.advance(60_000);
  assert.equal(server.watcherCount, 1);
  first.stop.abort();
  await clock.advance(10);
  assert.deepEqual(history, ["a leads", "a stopped", "b leads"]);
  assert.equal(server.watcherCount, 0);
  second.stop.abort();
  await clock.advance(10);
});

test("[KUBE68] a renewal is one request, and the lease is read only after a conflict", async () => {
  const { clock, start } = worldOf();
  const server = new LeaseServer();
  const { elector } = start("a", server);
  await clock.advance(1);
  server.methods.length = 0;
  await clock.advance(60_000);
  assert.ok(server.methods.every((method) => method === "PUT"));
  const held = server.lease;
  assert.ok(held);
  server.lease = { ...held, metadata: { ...held.metadata, resourceVersion: "edited" } };
  server.methods.length = 0;
  await clock.advance(6_500);
  assert.deepEqual(server.methods, ["PUT", "GET", "PUT"]);
  assert.ok(elector.isLeader);
});

test("[KUBE110] at rest the leader and who waits for it ask at most twelve times a minute each", async () => {
  const { clock, history, start } = worldOf();
  const [shared, link] = [new LeaseServer(), new LeaseServer()];
  link.request = (request) => {
    link.methods.push(request.method);
    return shared.request(request);
  };
  start("a", shared);
  await clock.advance(1);
  start("b", link);
  await clock.advance(1_000);
  shared.methods.length = 0;
  link.methods.length = 0;
  await clock.advance(600_000);
  const leaders = shared.methods.length - link.methods.length;
  assert.ok(leaders >= 90 && leaders <= 120, `${leaders} requests of the leader`);
  assert.ok(link.methods.length <= 120, `${link.methods.length} requests of the other`);
  assert.deepEqual(history, ["a leads"]);
});

test("[KUBE110] who sees the lease unchanged takes it when it has run out, not at a later look", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  server.isWatchable = true;
  const link = new LeaseServer();
  link.request = (request) => server.request(request);
  const first = start("a", link);
  await clock.advance(1);
  start("b", server);
  await clock.advance(20_000);
  link.request = () => Promise.reject(new KubeError(0, "Unreachable", "cut"));
  const cutMs = clock.nowMs();
  await clock.run({ until: () => history.includes("b leads") });
  const tookMs = clock.nowMs() - cutMs;
  assert.deepEqual(history, ["a leads", "a lost", "b leads"]);
  assert.equal(first.elector.isLeader, false);
  assert.ok(tookMs <= 18_500, `${tookMs} ms`);
});

test("[KUBE111] an act begins with a term that was just renewed, and keeps it so", async () => {
  const { clock, start } = worldOf();
  const server = new LeaseServer();
  const { elector } = start("a", server);
  await clock.advance(1);
  server.methods.length = 0;
  const seen: number[] = [];
  const look = async (): Promise<void> => {
    for (let second = 0; second < 10; second += 1) {
      seen.push(elector.remainingMs());
      await sleep(clock, 1_000);
    }
  };
  await clock.advance(4_900);
  assert.ok(elector.remainingMs() <= 10_200);
  void elector.during(look);
  await clock.advance(10_000);
  assert.equal(seen[0], 15_000);
  assert.ok(Math.min(...seen) >= 12_500, seen.join(" "));
  await clock.advance(10_000);
  server.methods.length = 0;
  await clock.advance(60_000);
  assert.ok(server.methods.length <= 12, "it is at rest again");
});

test("[KUBE111] an act at the end of a term waits for no renewal: the end would wait for it", async () => {
  const { clock } = worldOf();
  const server = new LeaseServer();
  const elector = new LeaderElector({
    client: new KubeClient(server, { userAgent: "a" }),
    ...{ clock, random: seededRandom(1), lease: { namespace: "db" }, identity: "a" },
  });
  const stop = new AbortController();
  let isDone = false;
  // As a pass that is under way when the operator is told to stop.
  const work = async (term: AbortSignal): Promise<void> => {
    await new Promise<void>((resolve) => term.addEventListener("abort", () => resolve()));
    await sleep(clock, 10);
    await elector.during(async () => void (isDone = true));
  };
  const ended = elector.run(stop.signal, work);
  await clock.advance(4_900);
  stop.abort();
  await clock.advance(20);
  assert.ok(isDone);
  assert.equal(await ended, "stopped");
  assert.equal(server.lease?.spec?.holderIdentity, "");
});

test("[KUBE111] an act does not wait for a renewal longer than the leader does", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  const { elector } = start("a", server);
  await clock.advance(4_000);
  server.isHanging = true;
  let left: number | undefined;
  void elector.during(async () => void (left = elector.remainingMs()));
  await clock.advance(6_500);
  assert.ok(left !== undefined && left < 15_000);
  await clock.advance(1);
  assert.deepEqual(history, ["a leads", "a lost"]);
  let isDone = false;
  void elector.during(async () => void (isDone = true));
  await clock.advance(0);
  assert.ok(isDone, "who does not lead waits for nobody");
});

test("[KUBE69] a leader whose requests hang gives up before another can take over", async () => {
  const { clock, history, start } = worldOf();
  const [shared, link] = [new LeaseServer(), new LeaseServer()];
  let isHanging = false;
  link.request = (request) => (isHanging ? new Promise(() => {}) : shared.request(request));
  const first = start("a", link);
  start("b", shared);
  await clock.advance(10_000);
  isHanging = true;
  const cutMs = clock.nowMs();
  await clock.run({ until: () => history.length === 2 });
  assert.deepEqual(history, ["a leads", "a lost"]);
  assert.ok(clock.nowMs() - cutMs <= 10_000, `${clock.nowMs() - cutMs} ms`);
  assert.equal(first.elector.remainingMs(), 0);
  await clock.advance(20_000);
  assert.deepEqual(history, ["a leads", "a lost", "b leads"]);
});

test("[KUBE69] a renewal that was given up and carried out all the same does no harm", async () => {
  const { clock, history, start } = worldOf();
  const server = new LeaseServer();
  const { elector } = start("a", server);
  await clock.advance(1_000);
  server.isHanging = true;
  await clock.advance(6_500);
  server.isHanging = false;
  await clock.advance(3_000);
  assert.ok(elector.isLeader);
  assert.deepEqual(history, ["a leads"]);
});

test("[KUBE64] a clock that is set forward makes no lease older", async () => {
  const world = new VirtualClock();
  const server = new LeaseServer();
  const clock = skewedClock(world, { offsetMs: 0, driftMsPerHour: 0 });
  const lease = { namespace: "db" };
  const history: string[] = [];
  const start = (identity: string, own: Clock, retryMs: number): void => {
    const client = new KubeClient(server, { userAgent: identity });
    const random = seededRandom(1);
    const elector = new LeaderElector({ client, clock: own, random, lease, identity, retryMs });
    const work = () => {
      history.push(identity);
      return new Promise<void>(() => {});
    };
    void elector.run(new AbortController().signal, work);
  };
  // The leader renews more seldom than the other one looks.
  start("a", world, 4_000);
  await world.advance(100);
  start("b", clock, 1_000);
  await world.advance(6_000);
  for (let hour = 0; hour < 20; hour += 1) {
    clock.step(3_600_000);
    await world.advance(7_300);
  }
  assert.deepEqual(history, ["a"]);
});
