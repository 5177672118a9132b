// The local copy of an object is behind one of our own writes, and the watch does not tell: the answer was lost, the object
// had changed, or it is gone. It is read before the next plan, so no plan rests on a state that we have ended ourselves.
// Rules: spec/operate.md [OP74].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { KubeError } from "../../src/kube/error.ts";
import { pods } from "../../src/kube/resource.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

const closed = (): KubeError => new KubeError(0, "Unreachable", "the road is closed");

/** A road to the API server that tells nothing of pods while it is silent, and loses answers on demand. */
class Road {
  isSilent = false;
  /** Whether the answer to a request that was carried out gets lost. */
  loses: (request: KubeRequest) => boolean = () => false;
  /** Whether nothing more is told of pods from a request on. */
  silences: (request: KubeRequest) => boolean = () => false;
  /** Whether a request never arrives. */
  refuses: (request: KubeRequest) => boolean = () => false;

  /** Watches that are cut off, and none begins. */
  cutsWatch: (request: KubeRequest) => boolean = () => false;
  readonly #watches = new Map<KubeRequest, (error: Error) => void>();

  cut(which: (request: KubeRequest) => boolean): void {
    this.cutsWatch = which;
    for (const [request, end] of this.#watches) if (which(request)) end(closed());
  }

  wrap = (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) =>
      new Promise((resolve, reject) => {
        let isCut = this.cutsWatch(request);
        if (isCut) reject(closed());
        this.#watches.set(request, (error) => {
          isCut = true;
          reject(error);
        });
        const watching = transport.watch(request, (event) => {
          const isSilent = this.isSilent && request.path.endsWith("/pods");
          if (!isSilent && !isCut) onEvent(event);
        });
        void watching.then(resolve, reject).finally(() => this.#watches.delete(request));
      }),
    request: async (request) => {
      if (this.refuses(request)) throw closed();
      this.isSilent ||= this.silences(request);
      const answer = await transport.request(request);
      if (this.loses(request)) throw new KubeError(0, "Timeout", "no answer in time");
      return answer;
    },
  });
}

async function onRoad(body: (world: TestWorld, road: Road) => Promise<void>): Promise<void> {
  const road = new Road();
  await TestWorld.runWithCluster({ spec: small, wrapTransport: road.wrap }, (world) =>
    body(world, road),
  );
}

/** How often the operator asked for something about pods since a mark, with the answers. */
function asked(world: TestWorld, mark: number, verb: string): number[] {
  return world.requests
    .slice(mark)
    .filter(({ verb: used, resource }) => used === verb && resource.plural === "pods")
    .map(({ status }) => status);
}

const isCreation = ({ method, path }: KubeRequest): boolean =>
  method === "POST" && path.endsWith("/pods");

const moreCpu = (cpu: string): object => ({
  processes: {
    storage: {
      podTemplate: {
        spec: { containers: [{ name: "foundationdb", resources: { requests: { cpu } } }] },
      },
    },
  },
});

test("[OP74] a pod is not created twice when the answer was lost and the watch is silent", async () => {
  await onRoad(async (world, road) => {
    const [lost] = await world.pods("log");
    assert.ok(lost);
    const key = { namespace: "default", name: nameOf(lost) };
    const mark = world.requests.length;
    road.loses = isCreation;
    road.silences = isCreation;
    await world.client.delete(pods, key, { gracePeriodSeconds: 0 });
    await world.clock.advance(30_000);
    assert.deepEqual(asked(world, mark, "create"), [0]);
    assert.deepEqual(asked(world, mark, "get"), [200]);
    road.isSilent = false;
  });
});

test("[OP74] a delete that was refused as outdated is decided on the pod as it is now", async () => {
  await onRoad(async (world, road) => {
    road.isSilent = true;
    for (const pod of await world.pods()) {
      const metadata = { annotations: { touched: "yes" } };
      const key = { namespace: "default", name: nameOf(pod) };
      await world.client.patch(pods, key, { metadata }, { type: "merge" });
    }
    const mark = world.requests.length;
    await world.changeSpec(moreCpu("60m"));
    const isDeleted = (): boolean => asked(world, mark, "delete").includes(200);
    await world.until(() => Promise.resolve(isDeleted()), "a pod is deleted", minuteMs);
    assert.deepEqual(asked(world, mark, "delete"), [409, 200]);
    assert.deepEqual(asked(world, mark, "get"), [200]);
    road.isSilent = false;
  });
});

test("[OP74] what cannot be read holds up a cluster for half a minute at most", async () => {
  await onRoad(async (world, road) => {
    const [log] = await world.pods("log");
    const [stateless] = await world.pods("stateless");
    assert.ok(log && stateless);
    const mark = world.requests.length;
    road.loses = ({ method, path }) => {
      const isFirst = isCreation({ method, path });
      if (isFirst) road.loses = () => false;
      return isFirst;
    };
    // The copy hears of both pods by the watch; only single reads fail.
    road.refuses = ({ method, path }) => method === "GET" && path.endsWith(`/pods/${nameOf(log)}`);
    const force = { gracePeriodSeconds: 0 };
    await world.client.delete(pods, { namespace: "default", name: nameOf(log) }, force);
    await world.clock.advance(5_000);
    const key = { namespace: "default", name: nameOf(stateless) };
    await world.client.delete(pods, key, force);
    await world.clock.advance(20_000);
    assert.equal(await world.client.find(pods, key), undefined);
    await world.clock.advance(10_000);
    assert.notEqual(await world.client.find(pods, key), undefined);
    assert.deepEqual(asked(world, mark, "create"), [0, 201]);
  });
});

test("[S108] a claim that a copy which has lost touch does not know is not gone", async () => {
  await onRoad(async (world, road) => {
    const isOfClaims = ({ path }: KubeRequest): boolean => path.includes("/persistentvolumeclaims");
    // Claims are made without an answer, and nothing is told of them for a while.
    road.refuses = (request) => isOfClaims(request) && request.method === "GET";
    road.loses = (request) => isOfClaims(request) && request.method === "POST";
    road.cut(isOfClaims);
    await world.changeSpec({ processCounts: { ...small.processCounts, storage: 5 } });
    await world.clock.advance(3 * minuteMs);
    road.refuses = road.loses = road.cutsWatch = () => false;
    await world.untilReconciled(5 * minuteMs);
    assert.deepEqual(await world.events("ReplacingProcessGroup"), []);
    const { status } = await world.cluster();
    const storages = status?.processGroups?.filter(
      ({ processClass }) => processClass === "storage",
    );
    assert.equal(storages?.length, 5);
    assert.ok(storages?.every(({ removalTimestamp }) => removalTimestamp === undefined));
    const replaced = world.activities.filter(
      (each) => each.type === "action" && each.action.type === "removeProcessGroups",
    );
    assert.deepEqual(replaced, []);
    world.assertDataSafe();
  });
});

test("[OP74] a budget for evictions is not created twice when the answer was lost: the right to get it is needed", async () => {
  await onRoad(async (world, road) => {
    const isOfBudgets = ({ path }: KubeRequest): boolean => path.includes("/poddisruptionbudgets");
    road.loses = (request) => request.method === "POST" && isOfBudgets(request);
    road.cut(isOfBudgets);
    const mark = world.requests.length;
    await world.changeSpec({ automationOptions: { drains: { enabled: true } } });
    await world.clock.advance(30_000);
    const answers = (verb: string): number[] =>
      world.requests
        .slice(mark)
        .filter((one) => one.verb === verb && one.resource.plural === "poddisruptionbudgets")
        .map(({ status }) => status);
    assert.deepEqual(answers("create"), [0]);
    assert.deepEqual(answers("get"), [200]);
    road.cut(() => false);
  });
});
