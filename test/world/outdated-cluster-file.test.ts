// Processes that are down while all coordinators change: their cluster files lead nowhere when the former ones are gone.
// Rules: spec/restart.md [T84], [T85].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { groups } from "./removal-harness.ts";
import { recoveries, templateWith, untilBlocked, whileServing } from "./restart-harness.ts";
import { hourMs, minuteMs, nameOf, securedProcesses, small, TestWorld } from "./world-harness.ts";

/** With processes that have no role. */
const roomy: Partial<ClusterSpec> = {
  ...small,
  processCounts: { storage: 4, log: 4, stateless: 8 },
  minimumUptimeSecondsForBounce: 60,
};
const options = { spec: roomy, nodes: 9 };

/** Pods with logs are replaced for it, and coordinators with them. */
const otherLogs = {
  processes: { log: templateWith("42").processes?.["general"] },
};

function parameters(processClass: string, ...customParameters: string[]): object {
  return { processes: { [processClass]: { customParameters } } };
}

/** Lets one process of the class end at its start; its process group. */
async function strike(world: TestWorld, processClass: string): Promise<string> {
  await world.clock.advance(2 * minuteMs);
  // fdbserver ends at once with it.
  await world.changeSpec(parameters(processClass, "knob_cache_eviction_policy=fifo"));
  const { remedy = "" } = await untilBlocked(world, "CanaryFailed");
  return /kubectl logs sample-(\S+) -c/.exec(remedy)?.[1] ?? "";
}

async function isThere(world: TestWorld, id: string): Promise<boolean> {
  return (await groups(world)).some(({ processGroupID }) => processGroupID === id);
}

async function isBlocked(world: TestWorld, reason: string): Promise<boolean> {
  const { status } = await world.cluster();
  return status?.blockedBy?.some((entry) => entry.reason === reason) === true;
}

async function untilMisled(world: TestWorld, id: string): Promise<void> {
  await whileServing(world, () => isBlocked(world, "ClusterFileOutdated"), hourMs);
  const { message } = await untilBlocked(world, "ClusterFileOutdated");
  assert.match(message, new RegExp(`^The cluster file of pod sample-${id} names only former`));
}

async function replacements(world: TestWorld, id: string): Promise<string[]> {
  const found = await world.events("ReplacingProcesses");
  return found.map(({ message = "" }) => message).filter((text) => text.includes(`${id}:`));
}

for (const processClass of ["stateless", "storage"]) {
  for (const imageType of ["unified", "split"] as const) {
    test(`[T85] [T113] a knob of ${processClass} that is taken back when all coordinators were replaced: the one process is replaced within minutes (${imageType} image) (long)`, async () => {
      const spec = { ...roomy, imageType };
      await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
        const id = await strike(world, processClass);
        await world.changeSpec(otherLogs);
        await untilMisled(world, id);
        await world.changeSpec(parameters(processClass));
        await world.untilReconciled(15 * minuteMs);
        assert.ok(!(await isThere(world, id)));
        const [told = "", ...more] = await replacements(world, id);
        assert.match(told, /: ClusterFileOutdated since 20.*Z$/);
        assert.deepEqual(more, []);
        assert.equal((await world.cluster()).status?.formerCoordinators, undefined);
        world.assertDataSafe();
      });
    });
  }
}

test("[T84] [T113] a process is led on by former coordinators that still serve, and stays (long)", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const before = (await world.cluster()).status?.connectionString;
    const id = await strike(world, "stateless");
    await world.changeSpec({ coordinatorSelection: [{ processClass: "storage", priority: 10 }] });
    const change = async (): Promise<boolean> =>
      (await world.cluster()).status?.connectionString !== before;
    await world.until(change, "other coordinators");
    await world.clock.advance(10 * minuteMs);
    const { status } = await world.cluster();
    const [former, ...more] = status?.formerCoordinators ?? [];
    assert.deepEqual([former?.processGroups, more], [[id], []]);
    assert.equal(`${before?.split("@")[0]}@${former?.coordinators.join(",")}`, before);
    const counted = recoveries(world);
    await world.changeSpec(parameters("stateless"));
    await world.untilReconciled(5 * minuteMs);
    assert.deepEqual([await isThere(world, id), await replacements(world, id)], [true, []]);
    assert.equal((await world.cluster()).status?.formerCoordinators, undefined);
    assert.equal(recoveries(world), counted);
  });
});

test("[T85] with replacements switched off nothing is replaced, and the wait says what helps (long)", async () => {
  const spec = { ...roomy, automationOptions: { replacements: { enabled: false } } };
  await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
    const id = await strike(world, "storage");
    await world.changeSpec(otherLogs);
    await untilMisled(world, id);
    await world.changeSpec(parameters("storage"));
    await world.clock.advance(hourMs);
    assert.ok(await isThere(world, id));
    const { remedy } = await untilBlocked(world, "ClusterFileOutdated");
    assert.match(remedy ?? "", /echo CONNECTION_STRING > \/var\/fdb\/data\/fdb\.cluster/);
  });
});

test("[T85] a pod whose node was away while all coordinators were replaced is replaced minutes after its return (long)", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    const coordinators = (await world.cluster()).status?.connectionString ?? "";
    const all = await world.pods();
    const isFree = (node: string | undefined): boolean =>
      !all.some((pod) => pod.spec?.nodeName === node && coordinators.includes(nameOf(pod)));
    const pod = (await world.pods("storage")).find(({ spec }) => isFree(spec?.nodeName));
    assert.ok(pod !== undefined);
    const id = nameOf(pod).replace("sample-", "");
    const node = pod.spec?.nodeName ?? "";
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "it stops");
    await world.clock.advance(10 * minuteMs);
    await world.changeSpec(otherLogs);
    await world.clock.advance(40 * minuteMs);
    assert.ok(await isThere(world, id));
    assert.deepEqual(await replacements(world, id), []);
    await world.during(world.world.kubelet.startNode(node), minuteMs, "it starts");
    await world.untilReconciled(20 * minuteMs);
    assert.ok(!(await isThere(world, id)));
    assert.match((await replacements(world, id))[0] ?? "", /ClusterFileOutdated since/);
    world.assertDataSafe();
  });
});

test("[T85] [FENCE7] one that was fenced during a switch to TLS, and knows nobody who speaks it, is replaced minutes after the fence (long)", async () => {
  const spec = { ...roomy, processes: securedProcesses };
  await TestWorld.runWithCluster({ ...options, spec, hasCertificates: true }, async (world) => {
    const id = (await groups(world, "storage"))[0]?.processGroupID ?? "";
    await world.changeSpec({ fence: [id] });
    await untilBlocked(world, "ProcessGroupFenced");
    await world.changeSpec({ mainContainer: { enableTls: true } });
    await whileServing(world, async () => {
      const { status } = await world.cluster();
      return status?.requiredAddresses?.nonTLS !== true;
    });
    // A fence may last: what it leads to is found when it is over.
    await world.clock.advance(3 * hourMs);
    assert.deepEqual([await isThere(world, id), await replacements(world, id)], [true, []]);
    assert.ok(!(await isBlocked(world, "ClusterFileOutdated")));
    await world.changeSpec({ fence: null });
    await untilMisled(world, id);
    await world.untilReconciled(15 * minuteMs);
    assert.ok(!(await isThere(world, id)));
    world.assertDataSafe();
  });
});
