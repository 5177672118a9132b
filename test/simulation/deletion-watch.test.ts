// The watchman of lives notices a deletion that takes more than the database can lose, over all resources that describe
// it. Rules: spec/world.md [W68].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mainContainerName, sidecarContainerName } from "../../src/build/normalise.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { isServing } from "../../src/sim/workloads/watched-pod.ts";
import { Watchman } from "../../src/sim/workloads/watchman.ts";
import { keyOfObject, minuteMs, nameOf, small, TestWorld } from "../world/world-harness.ts";

/** Answers every deletion with success and does nothing. */
const yielding: KubeTransport = {
  request: () => Promise.resolve({ status: 200, headers: {}, body: {} }),
  watch: () => Promise.resolve(),
};

test("[W68] a sidecar that restarts, also in another resource of the database, takes nothing down, a process that is gone does", async () => {
  await TestWorld.run({ nodes: 12 }, async (world) => {
    const watchman = new Watchman();
    watchman.watch(world.world, () => false, false, undefined);
    const [west, east] = [{ name: "west" }, { name: "east" }];
    await world.createCluster({ ...small, processGroupIDPrefix: "west" }, west);
    await world.untilReconciled(10 * minuteMs, west);
    const seedConnectionString = (await world.cluster(west)).status?.connectionString ?? "";
    const more = { processGroupIDPrefix: "east", seedConnectionString };
    await world.createCluster({ ...small, ...more }, east);
    await world.untilReconciled(10 * minuteMs, east);
    watchman.look();
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");

    const storage = await world.pods("storage");
    const podsOf = (name: string): Stored<Pod>[] =>
      storage.filter((pod) => nameOf(pod).startsWith(`${name}-`));
    const [taken, other] = podsOf("west");
    const [away] = podsOf("east");
    assert.ok(taken !== undefined && other !== undefined && away !== undefined);
    const found = async (pod: Stored<Pod>): Promise<string[]> => {
      const path = `/api/v1/namespaces/default/pods/${nameOf(pod)}`;
      await watchman.inspect(yielding).request({ method: "DELETE", path });
      return watchman.violations.splice(0);
    };
    const otherImage = (name: string, image: string) =>
      world.client.patch(
        pods,
        keyOfObject(away),
        { spec: { containers: [{ name, image }] } },
        { type: "strategic" },
      );
    const untilServing = async (isReady: boolean): Promise<void> => {
      const isSo = async (): Promise<boolean> => {
        const { status } = await world.client.get(pods, keyOfObject(away));
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        return (ready?.status === "True") === isReady;
      };
      await world.until(isSo, `the pod is ${isReady ? "" : "not "}ready`, minuteMs, east);
    };

    assert.deepEqual(await found(taken), [], "one may go");
    await otherImage(sidecarContainerName, "foundationdb/fdb-kubernetes-monitor:nowhere");
    await untilServing(false);
    assert.deepEqual(await found(taken), [], "its processes go on");
    assert.deepEqual(await found(podsOf("east")[1] ?? taken), [], "nor of its own resource");
    await otherImage(mainContainerName, "foundationdb/fdb-kubernetes-monitor:nowhere");
    await world.clock.advance(5_000);
    assert.match((await found(taken)).join(), /is taken down while these are/, "it is gone");
  });
});

test("[W68] a pod whose sidecar alone is away is down when its node dies meanwhile", async () => {
  await TestWorld.run({ nodes: 9 }, async (world) => {
    const watchman = new Watchman();
    watchman.watch(world.world, () => false, false, undefined);
    await world.createCluster({ ...small, imageType: "split" });
    await world.untilReconciled(10 * minuteMs);
    watchman.look();
    const [first, second] = await world.pods("storage");
    assert.ok(first !== undefined && second !== undefined);
    await world.during(world.world.stopOperator(), minuteMs, "the operator stops");
    const image = "foundationdb/foundationdb-kubernetes-sidecar:7.4.6-1";
    const body = { spec: { containers: [{ name: sidecarContainerName, image }] } };
    const key = keyOfObject(first);
    await world.client.patch(pods, key, body, { type: "strategic" });
    const isAway = async (): Promise<boolean> => !isServing(await world.client.get(pods, key));
    await world.until(isAway, "the sidecar is away");
    const evict = () => watchman.inspectEviction(nameOf(second), () => Promise.resolve(true));
    await evict();
    assert.deepEqual(watchman.violations, [], "the servers of the first go on");
    const stopping = world.world.kubelet.stopNode(first.spec?.nodeName ?? "");
    await world.during(stopping, minuteMs, "the node stops");
    await world.clock.advance(minuteMs);
    await evict();
    assert.match(watchman.violations.join(), /is taken down while these are/);
  });
});
