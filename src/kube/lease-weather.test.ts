// Leader election on servers that are slow, hang, lose requests or answers, and whose Lease somebody deletes, in virtual
// time: who may act is never two, and nobody loses the Lease without need.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../env/clock.ts";
import { randomInteger, seededRandom } from "../env/random.ts";
import type { Random } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { skewedClock } from "../sim/skewed-clock.ts";
import type { SkewedClock } from "../sim/skewed-clock.ts";
import { statusAnswer } from "../../test/fixtures/scripted-transport.ts";
import { KubeClient } from "./client.ts";
import type { Lease } from "./generated/types.ts";
import { LeaderElector } from "./lease.ts";
import type { Stored } from "./resource.ts";
import type { KubeRequest, KubeResponse, KubeTransport, WatchEvent } from "./transport.ts";

/** One Lease behind a network: each request travels there and back. */
class FarServer {
  lease: Stored<Lease> | undefined;
  readonly #clock: VirtualClock;
  readonly #watchers = new Set<(event: WatchEvent) => void>();
  #version = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** The way of one instance to the server; `travel` is asked for each direction of each request. */
  link(travel: () => number | "lost"): KubeTransport {
    const go = async (): Promise<void> => {
      const took = travel();
      if (took === "lost") return new Promise(() => {});
      return sleep(this.#clock, took);
    };
    return {
      request: async (request) => {
        await go();
        const answer = this.#answer(request);
        await go();
        return answer;
      },
      watch: (_, onEvent) => {
        this.#watchers.add((event) => void go().then(() => onEvent(event)));
        return new Promise(() => {});
      },
    };
  }

  delete(): void {
    const object = this.lease;
    this.lease = undefined;
    if (object !== undefined) for (const tell of this.#watchers) tell({ type: "DELETED", object });
  }

  #answer({ method, body }: KubeRequest): KubeResponse {
    const sent = body as Stored<Lease>;
    if (method === "GET") {
      if (this.lease === undefined) return statusAnswer(404, "NotFound", "no lease");
      return { status: 200, body: this.lease };
    }
    if (method === "POST" && this.lease !== undefined) {
      return statusAnswer(409, "AlreadyExists", "there is one");
    }
    if (method === "PUT" && this.lease === undefined) return statusAnswer(404, "NotFound", "none");
    if (method === "PUT" && sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      return statusAnswer(409, "Conflict", "lost the race");
    this.#version += 1;
    this.lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: `${this.#version}` } };
    for (const tell of this.#watchers) tell({ type: "MODIFIED", object: this.lease });
    return { status: 200, body: this.lease };
  }
}

interface Instance {
  readonly elector: LeaderElector;
  readonly clock: SkewedClock;
  readonly terms: number;
  readonly losses: number;
}

/** An instance that begins anew whenever it lost the Lease. */
function instance(world: VirtualClock, link: KubeTransport, identity: string): Instance {
  const clock = skewedClock(world, { offsetMs: 0, driftMsPerHour: 0 });
  const elector = new LeaderElector({
    client: new KubeClient(link, { userAgent: identity }),
    ...{ clock, random: seededRandom(identity.charCodeAt(0)), identity },
    lease: { namespace: "db" },
  });
  const counts = { terms: 0, losses: 0 };
  const live = async (): Promise<void> => {
    while (true) {
      const outcome = await elector.run(new AbortController().signal, (term) => {
        counts.terms += 1;
        return new Promise((resolve) => term.addEventListener("abort", () => resolve()));
      });
      if (outcome === "lost") counts.losses += 1;
    }
  };
  void live();
  return {
    elector,
    clock,
    get terms() {
      return counts.terms;
    },
    get losses() {
      return counts.losses;
    },
  };
}

for (const [title, calmMs] of [
  ["becomes slow", 60_000],
  ["is slow from the beginning", 0],
] as const) {
  test(`[KUBE112] a server that ${title} and answers in half of the renew deadline costs nobody the Lease`, async () => {
    for (const answerMs of [500, 1500, 2500, 3000, 3500, 4000, 4500, 4800]) {
      const clock = new VirtualClock();
      const server = new FarServer(clock);
      let travelMs = calmMs === 0 ? answerMs / 2 : 1;
      const link = server.link(() => travelMs);
      const [first, second] = [instance(clock, link, "a"), instance(clock, link, "b")];
      await clock.advance(calmMs + 30_000);
      travelMs = answerMs / 2;
      const terms = first.terms + second.terms;
      assert.equal(terms, 1, `answers after ${answerMs} ms: nobody leads`);
      await clock.advance(300_000);
      assert.equal(first.losses + second.losses, 0, `answers after ${answerMs} ms`);
      assert.equal(first.terms + second.terms, 1);
    }
  });
}

test("[KUBE112] an act on a slow server still begins with the newest term", async () => {
  const clock = new VirtualClock();
  const server = new FarServer(clock);
  const { elector } = instance(
    clock,
    server.link(() => 2_000),
    "a",
  );
  await clock.advance(60_000);
  const seen: number[] = [];
  for (let act = 0; act < 5; act += 1) {
    void elector.during(async () => void seen.push(elector.remainingMs()));
    await clock.advance(10_000);
  }
  assert.equal(seen.length, 5);
  assert.ok(Math.min(...seen) >= 9_000, seen.join(" "));
});

test("[KUBE67] a Lease that is deleted by hand is not taken from who holds it, and is put back", async () => {
  const clock = new VirtualClock();
  const server = new FarServer(clock);
  const link = server.link(() => 5);
  const first = instance(clock, link, "a");
  await clock.advance(100);
  const second = instance(clock, link, "b");
  await clock.advance(21_000);
  server.delete();
  await clock.advance(6_000);
  assert.equal(server.lease?.spec?.holderIdentity, "a");
  await clock.advance(60_000);
  assert.deepEqual([first.terms, second.terms], [1, 0]);
});

test("[KUBE67] a Lease that is deleted when nobody holds it any more is taken when its time is over", async () => {
  const clock = new VirtualClock();
  const server = new FarServer(clock);
  let isCut = false;
  instance(
    clock,
    server.link(() => (isCut ? "lost" : 5)),
    "a",
  );
  await clock.advance(100);
  const second = instance(
    clock,
    server.link(() => 5),
    "b",
  );
  await clock.advance(21_000);
  isCut = true;
  server.delete();
  await clock.advance(9_000);
  assert.equal(second.terms, 0);
  await clock.advance(10_000);
  assert.equal(second.terms, 1);
});

function weather(random: Random, isCalm: () => boolean): () => number | "lost" {
  let [kind, left] = ["calm", 0];
  return () => {
    if (isCalm()) return randomInteger(random, 1, 50);
    left -= 1;
    if (left <= 0) {
      kind = ["calm", "calm", "slow", "late", "lossy", "cut"][randomInteger(random, 0, 5)] ?? "";
      left = randomInteger(random, 2, 12);
    }
    if (kind === "cut") return "lost";
    if (kind === "lossy" && randomInteger(random, 0, 2) === 0) return "lost";
    if (kind === "late") return randomInteger(random, 2_000, 12_000);
    return kind === "slow" ? randomInteger(random, 200, 2_400) : randomInteger(random, 1, 50);
  };
}

test("[KUBE62] [KUBE112] whatever the network does and whoever deletes the Lease, never two may act", async () => {
  let changes = 0;
  for (let seed = 1; seed <= 20; seed += 1) {
    const clock = new VirtualClock();
    const server = new FarServer(clock);
    const random = seededRandom(seed);
    let isCalm = true;
    const instances = ["a", "b", "c"].map((identity) =>
      instance(clock, server.link(weather(random, () => isCalm)), identity),
    );
    // Who has never seen the Lease cannot know that it was deleted.
    await clock.advance(20_000);
    isCalm = false;
    for (let look = 0; look < 3_000; look += 1) {
      await clock.advance(200);
      // Not again before everybody may have seen the one that was put back.
      if (look % 300 === 0 && randomInteger(random, 0, 1) === 0) server.delete();
      const leaders = instances.filter(({ elector }) => elector.isLeader);
      assert.ok(leaders.length <= 1, `seed ${seed}: two lead at ${clock.nowMs()}`);
    }
    changes += instances.reduce((sum, { terms }) => sum + terms, 0);
  }
  assert.ok(changes > 40, `${changes} terms`);
});
