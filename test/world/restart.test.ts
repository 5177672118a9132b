// Changes of a running cluster that restart processes, in a whole world: how many recoveries they cost by ground truth,
// and that nothing is lost. Rules: spec/restart.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import { FdbError } from "../../src/fdb/error.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { acts, blockedBy, knobs, recoveries, untilBlocked } from "./restart-harness.ts";
import { minuteMs, securedProcesses, small, tiny, TestWorld } from "./world-harness.ts";

const nodeCapacity = { cpu: "8", memory: "16Gi", pods: "60" };

const sizes: [string, ClusterSpec["imageType"], ClusterSpec["processCounts"]][] = [
  ["15 processes of the unified image", "unified", { storage: 5, log: 4, stateless: 6 }],
  ["15 processes of the split image", "split", { storage: 5, log: 4, stateless: 6 }],
  ["40 processes of the unified image", "unified", { storage: 20, log: 8, stateless: 12 }],
  ["40 processes of the split image", "split", { storage: 20, log: 8, stateless: 12 }],
];

for (const [name, imageType = "unified", processCounts = {}] of sizes) {
  test(`[T31] [T110] a knob changes by one recovery, one process group before all others: ${name} (long)`, async () => {
    const spec = { ...small, imageType, processCounts };
    await TestWorld.runWithCluster({ spec, nodes: 10, nodeCapacity }, async (world) => {
      const before = recoveries(world);
      await world.changeSpec(knobs("knob_max_trace_lines=12345"));
      await world.untilReconciled(15 * minuteMs);
      const kills = acts(world, "killProcesses").map((kill) => kill.processGroupIds.length);
      const count = Object.values(processCounts).reduce(
        (sum: number, each) => sum + (each ?? 0),
        0,
      );
      assert.deepEqual(kills, [1, count - 1]);
      await world.clock.advance(2 * minuteMs);
      assert.equal(recoveries(world) - before, 1);
      world.assertDataSafe();
    });
  });
}

for (const imageType of ["unified", "split"] as const) {
  test(`[T31] a knob with a variable of the pod, ${imageType} image`, async () => {
    await TestWorld.runWithCluster({ spec: { ...small, imageType } }, async (world) => {
      const before = recoveries(world);
      await world.changeSpec(knobs("locality_disk_id=$FDB_INSTANCE_ID"));
      await world.untilReconciled(15 * minuteMs);
      assert.deepEqual([acts(world, "killProcesses").length, recoveries(world) - before], [2, 1]);
    });
  });
}

test("[T31] several storage and log servers per pod restart together, each on its port", async () => {
  const spec = { ...small, storageServersPerPod: 2, logServersPerPod: 2 };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await world.untilReconciled(15 * minuteMs);
    const kills = acts(world, "killProcesses");
    assert.deepEqual(
      kills.map((kill) => kill.processGroupIds.length),
      [1, 8],
    );
    const ports = kills
      .flatMap((kill) => kill.addresses.map((address) => address.split(":")[1] ?? ""))
      .toSorted();
    assert.deepEqual(ports, [...Array<string>(9).fill("4501"), ...Array<string>(6).fill("4503")]);
    assert.equal(recoveries(world) - before, 1);
  });
});

test("[T27] without leave to kill only the ConfigMap changes, until a person restarts the processes", async () => {
  const spec = { ...small, automationOptions: { killProcesses: false } };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    const entry = await untilBlocked(world, "ProcessNeedsRestart");
    assert.match(entry.remedy ?? "", /kill/);
    await world.clock.advance(15 * minuteMs);
    const map = await world.client.get(configMaps, { namespace: "default", name: "sample-config" });
    assert.match(map.data?.["fdbmonitor-conf-storage-json"] ?? "", /max_trace_lines/);
    assert.deepEqual([acts(world, "killProcesses").length, recoveries(world) - before], [0, 0]);
  });
});

test("[T26] the restart comes as soon as the database has been running long enough", async () => {
  const spec = { ...small, minimumUptimeSecondsForBounce: 300 };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    const entry = await untilBlocked(world, "RestartHeld");
    assert.match(entry.message, /300 seconds/);
    const tookMs = await world.untilReconciled(15 * minuteMs);
    assert.ok(tookMs < 300_000, `${tookMs} ms`);
    assert.equal((await world.events("BouncingProcesses")).length, 2);
    assert.equal((await world.events("NeedsBounce")).length, 1);
  });
});

/** Lets the first call of a command go wrong. */
function mishap(
  command: "changeCoordinators" | "kill",
  first: (run: () => Promise<unknown>) => Promise<unknown>,
): { wrap: (admin: AdminClientFactory) => AdminClientFactory; calls: () => number } {
  let calls = 0;
  const wrap = (admin: AdminClientFactory): AdminClientFactory => ({
    isVersionSupported: (version) => admin.isVersionSupported(version),
    installedVersions: () => admin.installedVersions(),
    open: (options) => {
      const client = admin.open(options);
      const run = async (...parts: [readonly string[], number]): Promise<unknown> => {
        calls += 1;
        const real = (): Promise<unknown> => client[command](...parts);
        return calls === 1 ? first(real) : real();
      };
      return Object.assign(Object.create(client) as AdminClient, { [command]: run });
    },
  });
  return { wrap, calls: () => calls };
}

const quick = { ...small, minimumUptimeSecondsForBounce: 30 };

test("[T32] a kill that did nothing is found and done again", async () => {
  const { wrap, calls } = mishap("kill", async () => {});
  await TestWorld.runWithCluster({ spec: quick, wrapAdmin: wrap }, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await world.untilReconciled(15 * minuteMs);
    assert.deepEqual([calls(), recoveries(world) - before], [3, 1]);
  });
});

test("[T32] a kill that failed after it worked is not done again", async () => {
  const { wrap, calls } = mishap("kill", async (run) => {
    await run();
    throw new FdbError(1031, "the answer was lost");
  });
  await TestWorld.runWithCluster({ spec: quick, wrapAdmin: wrap }, async (world) => {
    const before = recoveries(world);
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await world.untilReconciled(15 * minuteMs);
    assert.deepEqual([calls(), recoveries(world) - before], [2, 1]);
  });
});

test("[T15] a change of coordinators that failed after it worked is followed, not repeated", async () => {
  const { wrap, calls } = mishap("changeCoordinators", async (run) => {
    await run();
    throw new FdbError(1031, "the answer was lost");
  });
  await TestWorld.runWithCluster({ spec: quick, wrapAdmin: wrap }, async (world) => {
    const before = recoveries(world);
    await world.changeSpec({
      routing: { useDNSInClusterFile: false, defineDNSLocalityFields: true },
    });
    await world.untilReconciled(15 * minuteMs);
    assert.deepEqual([calls(), recoveries(world) - before], [1, 1]);
    const [database] = world.world.fdb.truth.databases();
    assert.equal((await world.cluster()).status?.connectionString, database?.connectionString);
  });
});

for (const [name, from, to] of [
  ["on", false, true],
  ["off", true, false],
] as const) {
  test(`[T30] [T116] TLS is switched ${name} by two restarts and one change of coordinators`, async () => {
    const spec = {
      ...small,
      minimumUptimeSecondsForBounce: 60,
      mainContainer: { enableTls: from },
      sidecarContainer: { enableTls: false },
      processes: securedProcesses,
    };
    await TestWorld.runWithCluster({ spec, hasCertificates: true }, async (world) => {
      const before = recoveries(world);
      await world.changeSpec({ mainContainer: { enableTls: to } });
      await world.untilReconciled(30 * minuteMs);
      assert.equal(acts(world, "killProcesses").length, 2);
      assert.equal(acts(world, "changeCoordinators").length, 1);
      assert.equal(recoveries(world) - before, 3);
      const { status } = await world.cluster();
      const coordinators = (status?.connectionString?.split("@")[1] ?? "").split(",");
      for (const address of coordinators) assert.equal(address.endsWith(":tls"), to);
      assert.deepEqual(status?.requiredAddresses, to ? { tls: true } : { nonTLS: true });
      assert.equal((await world.events("DeferringCoordinatorChange")).length, 1);
      world.assertDataSafe();
    });
  });
}

test("[T28] a process group that buggify leaves out keeps its process", async () => {
  const spec = { ...small, minimumUptimeSecondsForBounce: 60 };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    const groups = (await world.cluster()).status?.processGroups ?? [];
    const id = groups[0]?.processGroupID ?? "";
    await world.changeSpec({
      ...knobs("knob_max_trace_lines=12345"),
      buggify: { ignoreDuringRestart: [id] },
    });
    await world.until(
      () => Promise.resolve(acts(world, "killProcesses").length === 2),
      "all others are restarted",
    );
    const ids = acts(world, "killProcesses").flatMap((kill) => kill.processGroupIds);
    assert.equal(ids.length, 8);
    assert.ok(!ids.includes(id));
    await untilBlocked(world, "ProcessNeedsRestart");
    assert.match((await blockedBy(world, "bounceProcesses"))?.message ?? "", new RegExp(id));
  });
});

test("[T31] a database with a single copy takes a knob as well", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    await world.untilReconciled(15 * minuteMs);
    assert.equal(acts(world, "killProcesses").length, 1);
    world.assertDataSafe();
  });
});

test("[T22] a knob reaches all others although one pod has lost its node", async () => {
  const spec = { ...small, minimumUptimeSecondsForBounce: 60 };
  await TestWorld.runWithCluster({ spec, nodes: 9 }, async (world) => {
    const [pod] = await world.pods("storage");
    await world.world.kubelet.stopNode(pod?.spec?.nodeName ?? "");
    await world.clock.advance(3 * minuteMs);
    await world.changeSpec(knobs("knob_max_trace_lines=12345"));
    const restarted = (): string[] =>
      acts(world, "killProcesses").flatMap((kill) => [...kill.processGroupIds]);
    await world.until(
      async () => restarted().length >= 8,
      "the others are restarted",
      15 * minuteMs,
    );
    assert.equal(restarted().length, 8);
    world.assertDataSafe();
  });
});

test("[T20] an empty configuration of the split image stops all processes, and back", async () => {
  const spec = { ...small, imageType: "split" as const, minimumUptimeSecondsForBounce: 60 };
  await TestWorld.runWithCluster({ spec }, async (world) => {
    await world.changeSpec({ buggify: { emptyMonitorConf: true } });
    const isUp = (): boolean => world.world.fdb.truth.databases()[0]?.isAvailable === true;
    await world.until(() => Promise.resolve(!isUp()), "all processes are gone", 15 * minuteMs);
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(acts(world, "killProcesses"), [], "the monitors stop them themselves");
    await world.changeSpec({ buggify: null });
    await world.untilReconciled(15 * minuteMs);
    world.assertDataSafe();
  });
});

for (const delayMs of [1_000, 3_000, 8_000, 14_000]) {
  test(`[T29] an operator that ends ${delayMs} ms before a restart is over does not repeat it`, async () => {
    const spec = { ...small, minimumUptimeSecondsForBounce: 60 };
    await TestWorld.runWithCluster({ spec }, async (world) => {
      const before = recoveries(world);
      await world.clock.advance(2 * minuteMs);
      await world.changeSpec(knobs("knob_max_trace_lines=12345"));
      await world.clock.advance(delayMs);
      await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
      world.world.startOperator();
      await world.untilReconciled(15 * minuteMs);
      assert.equal(recoveries(world) - before, 1);
    });
  });
}
