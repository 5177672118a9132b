// Names for coordinators, or another IP family, wished for by one edit together with TLS or an incompatible version: pods that
// were made without names, or for another family, cannot take the configuration that both wait for. Rules: spec/restart.md [T52], spec/upgrade.md [U88], spec/plan.md [P116].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { annotationKeys } from "../../src/build/labels.ts";
import { pods, services } from "../../src/kube/resource.ts";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { groups } from "./removal-harness.ts";
import { untilBlocked } from "./restart-harness.ts";
import {
  keyOfObject,
  minuteMs,
  nameOf,
  securedProcesses,
  small,
  TestWorld,
} from "./world-harness.ts";

for (const podUpdateStrategy of ["Delete", "ReplaceTransactionSystem"] as const) {
  test(`[T52] names and TLS are turned on together (${podUpdateStrategy}) (long)`, async () => {
    const spec = {
      ...small,
      processes: securedProcesses,
      minimumUptimeSecondsForBounce: 30,
      routing: { useDNSInClusterFile: false },
      automationOptions: { podUpdateStrategy, waitBetweenRemovalsSeconds: 0 },
    };
    await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec({
        mainContainer: { enableTls: true },
        routing: { useDNSInClusterFile: true },
      });
      await world.untilReconciled(60 * minuteMs);
      const { connectionString = "" } = (await world.cluster()).status ?? {};
      for (const address of coordinatorsOf(connectionString)) {
        assert.match(address, /^sample-.*\.svc\.cluster\.local:4500:tls$/);
      }
      world.assertDataSafe();
    });
  });
}

for (const podUpdateStrategy of ["Delete", "ReplaceTransactionSystem"] as const) {
  test(`[U88] names come with an incompatible version (${podUpdateStrategy}) (long)`, async () => {
    const spec = {
      ...small,
      version: "7.3.63",
      minimumUptimeSecondsForBounce: 30,
      routing: { useDNSInClusterFile: false },
      automationOptions: { podUpdateStrategy, waitBetweenRemovalsSeconds: 0 },
    };
    await TestWorld.runWithCluster({ spec }, async (world) => {
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec({ version: "7.4.6", routing: { useDNSInClusterFile: true } });
      await world.untilReconciled(60 * minuteMs);
      const { connectionString = "", runningVersion } = (await world.cluster()).status ?? {};
      assert.equal(runningVersion, "7.4.6");
      for (const address of coordinatorsOf(connectionString)) {
        assert.match(address, /^sample-.*\.svc\.cluster\.local:4501$/);
      }
      world.assertDataSafe();
    });
  });
}

for (const [laterMs, enableTls] of [
  [0, true],
  [30_000, true],
  [0, false],
  [30_000, false],
] as const) {
  const change = `TLS is turned ${enableTls ? "on" : "off"} ${laterMs / 1000} s after names`;
  test(`[U88] ${change}, where one process group is replaced at a time (long)`, async () => {
    const spec = {
      ...small,
      mainContainer: { enableTls: !enableTls },
      processes: securedProcesses,
      minimumUptimeSecondsForBounce: 30,
      routing: { useDNSInClusterFile: false },
      automationOptions: {
        ...({ podUpdateStrategy: "Replace", maxConcurrentReplacements: 1 } as const),
        waitBetweenRemovalsSeconds: 0,
      },
    };
    await TestWorld.runWithCluster({ spec, hasCertificates: true, nodes: 9 }, async (world) => {
      await world.changeSpec({ routing: { useDNSInClusterFile: true } });
      await world.clock.advance(laterMs);
      await world.changeSpec({ mainContainer: { enableTls } });
      await world.untilReconciled(60 * minuteMs);
      const { connectionString = "" } = (await world.cluster()).status ?? {};
      for (const address of coordinatorsOf(connectionString)) {
        assert.match(address, /^sample-.*\.svc\.cluster\.local:\d+(:tls)?$/);
        assert.equal(address.endsWith(":4500:tls"), enableTls);
      }
      world.assertDataSafe();
    });
  });
}

test("[P97] names come back after another IP family although an emptied pod of the former one is kept (long)", async () => {
  const spec = {
    ...small,
    processCounts: { storage: 4, log: 4, stateless: 4 },
    automationOptions: { waitBetweenRemovalsSeconds: 0, maxConcurrentReplacements: 3 },
  };
  await TestWorld.runWithCluster({ spec, nodes: 12 }, async (world) => {
    const [pod] = await world.pods("storage");
    assert.ok(pod !== undefined);
    const annotations = { [annotationKeys.isolateProcessGroup]: "true" };
    await world.client.patch(
      pods,
      keyOfObject(pod),
      { metadata: { annotations } },
      { type: "merge" },
    );
    await world.changeSpec({ processGroupsToRemove: [nameOf(pod).replace("sample-", "")] });
    await untilBlocked(world, "RemovalBlocked");
    await world.changeSpec({ routing: { podIPFamily: 6 } });
    await world.clock.advance(60 * minuteMs);
    const { connectionString = "" } = (await world.cluster()).status ?? {};
    for (const address of coordinatorsOf(connectionString)) {
      assert.match(address, /^sample-.*\.svc\.cluster\.local:4501$/);
    }
    assert.ok((await world.pods("storage")).some((each) => nameOf(each) === nameOf(pod)));
    world.assertDataSafe();
  });
});

/** Until the last pod has the family that is wished for. */
async function untilFamily6(world: TestWorld): Promise<void> {
  await world.untilReconciled(60 * minuteMs);
  for (const pod of await world.pods()) {
    assert.equal(pod.metadata.annotations?.[annotationKeys.ipFamily], "6");
  }
  world.assertDataSafe();
}

const quick = {
  ...small,
  version: "7.3.63",
  processes: securedProcesses,
  minimumUptimeSecondsForBounce: 30,
  automationOptions: { waitBetweenRemovalsSeconds: 0, maxConcurrentReplacements: 2 },
};
const options = { spec: quick, hasCertificates: true, nodes: 9 };

// After half a minute there are pods of both families that nobody has begun to replace.
for (const laterMs of [0, 30_000]) {
  test(`[P116] an incompatible version ${laterMs / 1000} s after another IP family (long)`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      await world.clock.advance(laterMs);
      await world.changeSpec({ version: "7.4.6" });
      await untilFamily6(world);
      assert.equal((await world.cluster()).status?.runningVersion, "7.4.6");
    });
  });

  test(`[P116] TLS ${laterMs / 1000} s after another IP family (long)`, async () => {
    await TestWorld.runWithCluster(options, async (world) => {
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      await world.clock.advance(laterMs);
      await world.changeSpec({ mainContainer: { enableTls: true } });
      await untilFamily6(world);
      assert.match((await world.cluster()).status?.connectionString ?? "", /:4500:tls$/);
    });
  });
}

test("[P116] an incompatible version and TLS half a minute after another IP family: both wait for it (long)", async () => {
  await TestWorld.runWithCluster(options, async (world) => {
    await world.changeSpec({ routing: { podIPFamily: 6 } });
    await world.clock.advance(30_000);
    await world.changeSpec({ version: "7.4.6", mainContainer: { enableTls: true } });
    await untilFamily6(world);
    const { connectionString = "", runningVersion } = (await world.cluster()).status ?? {};
    assert.equal(runningVersion, "7.4.6");
    assert.match(connectionString, /:4500:tls$/);
  });
});

for (const change of [{ version: "7.4.6" }, { mainContainer: { enableTls: true } }]) {
  test(`[P116] [FENCE6] ${Object.keys(change)[0]} changes though a fenced pod still has the former IP family (long)`, async () => {
    const processCounts = { storage: 4, log: 4, stateless: 4 };
    const spec = { ...quick, processCounts };
    await TestWorld.runWithCluster({ ...options, spec, nodes: 12 }, async (world) => {
      await world.changeSpec({ fence: [(await groups(world, "storage"))[0]?.processGroupID] });
      await untilBlocked(world, "ProcessGroupFenced");
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      await world.clock.advance(30 * minuteMs);
      await world.changeSpec(change);
      const isDone = async (): Promise<boolean> => {
        const { runningVersion, connectionString = "" } = (await world.cluster()).status ?? {};
        return runningVersion === "7.4.6" || connectionString.endsWith(":tls");
      };
      await world.until(isDone, "it has changed", 30 * minuteMs);
      await world.changeSpec({ fence: null });
      await untilFamily6(world);
    });
  });
}

test("[P116] [R52] a version changes though a pod of the former IP family is kept for inspection (long)", async () => {
  const processCounts = { storage: 4, log: 4, stateless: 4 };
  const spec = { ...quick, processCounts };
  await TestWorld.runWithCluster({ ...options, spec, nodes: 12 }, async (world) => {
    const [pod] = await world.pods("storage");
    assert.ok(pod !== undefined);
    const annotations = { [annotationKeys.isolateProcessGroup]: "true" };
    const patch = { metadata: { annotations } };
    await world.client.patch(pods, keyOfObject(pod), patch, { type: "merge" });
    await world.changeSpec({ processGroupsToRemove: [nameOf(pod).replace("sample-", "")] });
    await untilBlocked(world, "RemovalBlocked");
    await world.changeSpec({ routing: { podIPFamily: 6 } });
    await world.clock.advance(30 * minuteMs);
    await world.changeSpec({ version: "7.4.6" });
    const isDone = async (): Promise<boolean> =>
      (await world.cluster()).status?.runningVersion === "7.4.6";
    await world.until(isDone, "the version has changed", 30 * minuteMs);
    const kept = await world.client.get(pods, keyOfObject(pod));
    const isolation = { [annotationKeys.isolateProcessGroup]: null };
    const end = { metadata: { annotations: isolation } };
    await world.client.patch(pods, keyOfObject(kept), end, { type: "merge" });
    await untilFamily6(world);
  });
});

test("[P96] another IP family where pods have services and coordinators names (long)", async () => {
  const spec = { ...quick, routing: { publicIPSource: "service" as const } };
  await TestWorld.runWithCluster({ ...options, spec }, async (world) => {
    await world.changeSpec({ routing: { podIPFamily: 6 } });
    await untilFamily6(world);
    assert.match(
      (await world.cluster()).status?.connectionString ?? "",
      /\.svc\.cluster\.local:4501$/,
    );
  });
});

for (const [what, routing] of [
  ["names", { podIPFamily: 4 }],
  ["addresses of services", { publicIPSource: "service", useDNSInClusterFile: false }],
] as const) {
  test(`[P114] a power cut just as another IP family is wished for: servers that start are told nothing of it, and found by ${what} (long)`, async () => {
    await TestWorld.runWithCluster({ ...options, spec: { ...quick, routing } }, async (world) => {
      await world.changeSpec({ routing: { podIPFamily: 6 } });
      for (const pod of await world.pods()) await world.client.delete(pods, keyOfObject(pod));
      await untilFamily6(world);
    });
  });
}

test("[P43] the headless service comes back while coordinators are still known by its names (long)", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 9 }, async (world) => {
    await world.changeSpec({ routing: { useDNSInClusterFile: false } });
    await world.clock.advance(2_000);
    await world.client.delete(services, { namespace: "default", name: "sample" });
    await world.untilReconciled(60 * minuteMs);
    world.assertDataSafe();
  });
});
