// The local copy of an object is behind one of our own writes, and the watch does not tell: the answer was lost, the object
// had changed, or it is gone. It is read before the next plan, so no plan rests on a state that we have ended ourselves.
// Rules: spec/operate.md [OP74].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { KubeError } from "../../src/kube/error.ts";
import { pods } from "../../src/kube/resource.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import { minuteMs, nameOf, small, TestWorld } from "./world-harness.ts";

/** A road to the API server that tells nothing of pods while it is silent, and loses answers on demand. */
class Road {
  isSilent = false;
  /** Whether the answer to a request that was carried out gets lost. */
  loses: (request: KubeRequest) => boolean = () => false;
  /** Whether nothing more is told of pods from a request on. */
  silences: (request: KubeRequest) => boolean = () => false;
  /** Whether a request never arrives. */
  refuses: (request: KubeRequest) => boolean = () => false;

  wrap = (transport: KubeTransport): KubeTransport => ({
    watch: (request, onEvent) =>
      transport.watch(request, (event) => {
        if (!this.isSilent || !request.path.endsWith("/pods")) onEvent(event);
      }),
    request: async (request) => {
      if (this.refuses(request)) throw new KubeError(0, "Unreachable", "the road is closed");
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
