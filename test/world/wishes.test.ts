// Changes of a running cluster's spec that need restarts, new pods, successors or other coordinators: each is carried out,
// the database commits all the while but for single recoveries, and nothing is lost. Rules: spec/world.md [W91], [W92].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterStatus } from "../../src/api/cluster.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { isReconciled, longestStallMs, whileServing } from "./restart-harness.ts";
import {
  frugalProcesses,
  hourMs,
  keyOfObject,
  minuteMs,
  securedProcesses,
  small,
  TestWorld,
} from "./world-harness.ts";

const volumeClaimTemplate = { spec: { resources: { requests: { storage: "256G" } } } };
const general = frugalProcesses?.general;

/** No single act may cost more than a recovery. */
const longestRecoveryMs = 15_000;

interface Wish {
  title: string;
  change: object;
  /** Of the status and of every pod when the wish is fulfilled. */
  status?: (status: ClusterStatus) => boolean;
  pod?: (pod: Pod) => boolean;
  /** The pods have certificates before. */
  isSecured?: boolean;
  /** The same pods run on. */
  keepsPods?: boolean;
}

const imageOf = (pod: Pod): string => pod.spec?.containers[0]?.image ?? "";

const wishes: Wish[] = [
  {
    title: "another patch version",
    change: { version: "7.3.69" },
    status: (status) => status.runningVersion === "7.3.69",
    pod: (pod) => imageOf(pod).includes("7.3.69"),
  },
  {
    title: "another minor version",
    change: { version: "7.4.6" },
    status: (status) => status.runningVersion === "7.4.6",
    pod: (pod) => imageOf(pod).includes("7.4.6"),
  },
  {
    title: "the other image type",
    change: { imageType: "split" },
    status: (status) => status.imageTypes?.join() === "split",
    pod: (pod) => !imageOf(pod).includes("monitor"),
  },
  {
    title: "another pod template",
    change: {
      processes: { general: { podTemplate: { spec: { terminationGracePeriodSeconds: 7 } } } },
    },
    pod: (pod) => pod.spec?.terminationGracePeriodSeconds === 7,
  },
  {
    title: "larger volumes",
    change: { processes: { general: { ...general, volumeClaimTemplate } } },
  },
  {
    title: "another prefix",
    change: { processGroupIDPrefix: "west" },
    status: (status) =>
      status.processGroups?.every(({ processGroupID = "" }) =>
        processGroupID.startsWith("west-"),
      ) === true,
  },
  {
    title: "two storage servers per pod",
    change: { storageServersPerPod: 2 },
    status: (status) => status.storageServersPerDisk?.join() === "2",
  },
  {
    title: "addresses instead of names",
    change: { routing: { useDNSInClusterFile: false } },
    status: (status) => !/svc/.test(status.connectionString ?? "svc"),
  },
  {
    title: "public addresses of services",
    change: { routing: { publicIPSource: "service", useDNSInClusterFile: false } },
    pod: (pod) => pod.metadata.annotations?.["foundationdb.org/public-ip-source"] === "service",
  },
  {
    title: "TLS",
    change: { mainContainer: { enableTls: true } },
    isSecured: true,
    status: (status) => /:4500:tls/.test(status.connectionString ?? ""),
  },
  {
    title: "another knob",
    change: { processes: { storage: { customParameters: ["knob_a_b=1"] } } },
    keepsPods: true,
  },
  {
    title: "three copies",
    change: {
      databaseConfiguration: { redundancy_mode: "triple" },
      processCounts: { storage: 5, log: 5, stateless: 3 },
    },
    status: (status) => status.databaseConfiguration?.redundancy_mode === "triple",
    keepsPods: true,
  },
];

/** Reconciled means that what goes is being deleted; here it must be gone. */
async function isFulfilled(world: TestWorld): Promise<boolean> {
  const { status } = await world.cluster();
  const isLeft = (status?.processGroups ?? []).some((group) => group.removalTimestamp);
  return !isLeft && (await isReconciled(world));
}

const spec = { ...small, automationOptions: { waitBetweenRemovalsSeconds: 0 } };

for (const { title, change, status: fulfils, pod: suits, keepsPods, isSecured } of wishes) {
  test(`[W91] ${title}: carried out, and nothing breaks (long)`, async () => {
    const secured = isSecured ? { processes: securedProcesses } : {};
    const options = { spec: { ...spec, ...secured }, hasCertificates: isSecured };
    await TestWorld.runWithCluster(options, async (world) => {
      const uids = (await world.pods()).map(({ metadata }) => metadata.uid);
      const startedMs = world.clock.nowMs();
      await world.changeSpec(change);
      await whileServing(world, () => isFulfilled(world), 2 * hourMs);
      const { status = {} } = await world.cluster();
      const report = await world.report();
      assert.ok(fulfils?.(status) !== false, `the status does not fulfil it\n${report}`);
      const found = await world.pods();
      for (const pod of found) assert.ok(suits?.(pod) !== false, `${pod.metadata.name}`);
      if (keepsPods === true) {
        const now = new Set(found.map(({ metadata }) => metadata.uid));
        assert.ok(
          uids.every((uid) => now.has(uid)),
          "every pod is still there",
        );
      }
      const stalledMs = longestStallMs(world, startedMs);
      assert.ok(stalledMs <= longestRecoveryMs, `no commits for ${stalledMs} ms`);
      world.assertDataSafe();
      await world.clock.advance(10 * minuteMs);
      const mark = world.requests.length;
      await world.clock.advance(30 * minuteMs);
      assert.deepEqual(world.writesSince(mark), []);
    });
  });
}

test("[W91] larger volumes are really larger, and the old ones are gone", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    await world.changeSpec({ processes: { general: { ...general, volumeClaimTemplate } } });
    await world.untilReconciled(hourMs);
    const { items } = await world.client.list(persistentVolumeClaims, { namespace: "default" });
    assert.equal(items.length, 6);
    for (const { spec: wanted } of items) {
      assert.equal(wanted?.resources?.requests?.["storage"], "256G");
    }
    world.assertDataSafe();
  });
});

test("[W92] a pod that somebody deletes comes back as the spec wants it by then", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const annotations = { team: "storage" };
    const automationOptions = { deletionMode: "None" };
    await world.changeSpec({
      automationOptions,
      processes: { general: { podTemplate: { metadata: { annotations } } } },
    });
    await world.untilReconciled();
    await world.changeSpec({
      processes: { general: { podTemplate: { spec: { terminationGracePeriodSeconds: 7 } } } },
    });
    await world.clock.advance(minuteMs);
    for (const pod of await world.pods("storage")) {
      assert.notEqual(pod.spec?.terminationGracePeriodSeconds, 7);
      await world.client.delete(pods, keyOfObject(pod));
      await world.clock.advance(2 * minuteMs);
    }
    for (const pod of await world.pods("storage")) {
      assert.equal(pod.spec?.terminationGracePeriodSeconds, 7);
      assert.equal(pod.metadata.annotations?.["team"], "storage");
    }
    world.assertDataSafe();
  });
});

test("[P90] [P91] process groups that need successors get them and do not make the cluster degraded", async () => {
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const processes = { general: { ...general, volumeClaimTemplate } };
    await world.changeSpec({ processes, processGroupIDPrefix: "west" });
    await world.until(
      async () => {
        const { status } = await world.cluster();
        const degraded = conditionIn(status, "Degraded");
        // New pods take a moment; what must never be said is that an old volume is a defect.
        assert.doesNotMatch(degraded?.message ?? "", /IncorrectPodSpec|volume/i);
        const groups = status?.processGroups ?? [];
        return groups.every(({ processGroupID = "" }) => processGroupID.startsWith("west-"));
      },
      "successors are there",
      hourMs,
    );
    await world.untilReconciled(hourMs);
    world.assertDataSafe();
  });
});
