// Checklist: upgrades and downgrades in whole worlds, undisturbed and disturbed.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { pods } from "../../src/kube/resource.ts";
import { untilSettled } from "../world/removal-harness.ts";
import {
  assertAllOn,
  blockedBy,
  imagesOf,
  killsOf,
  newVersion,
  oldVersion,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
} from "../world/upgrade-harness.ts";
import { minuteMs } from "../world/world-harness.ts";
import type { TestWorld, TestWorldOptions } from "../world/world-harness.ts";
import { long, shared } from "./checklist-case.ts";
import {
  coordinatorId,
  cut,
  firstOf,
  heal,
  hold,
  idsOf,
  nameOf,
  namespace,
  podOf,
  release,
  template,
  uidsOf,
} from "./life.ts";

const { item, together } = long;

type Spec = Partial<ClusterSpec>;
const eight = { storage: 3, log: 3, stateless: 2 };
type Strategy = "Delete" | "ReplaceTransactionSystem" | "Replace";
const options = (more: object = {}): Spec => ({
  automationOptions: { waitBetweenRemovalsSeconds: 0, ...more },
});

interface Upgrade {
  images: string[];
  version: string;
  kills: number;
  kept: string[];
  pods: number;
  isAnyPodOld: boolean;
  /** After the way back, where it was taken. */
  versionAfter: string;
}
async function upgrade(
  from: string,
  to: string,
  podUpdateStrategy: Strategy,
  isTakenBack = false,
): Promise<Upgrade> {
  let found: Upgrade | undefined;
  await upgradeWorld(
    { nodes: 9, spec: { version: from, processCounts: eight, ...options({ podUpdateStrategy }) } },
    async (world) => {
      const before = await idsOf(world);
      const uids = uidsOf(await world.pods());
      await world.changeSpec({ version: to });
      await world.untilReconciled(upgradeLimitMs);
      await untilSettled(world);
      await assertAllOn(world, to);
      const after = await idsOf(world);
      found = {
        images: await imagesOf(world),
        version: (await world.cluster()).status?.runningVersion ?? "",
        kills: killsOf(world).length,
        kept: after.filter((id) => before.includes(id)).map((id) => id.split("-")[0] ?? ""),
        pods: after.length,
        isAnyPodOld: uidsOf(await world.pods()).some((uid) => uids.includes(uid)),
        versionAfter: to,
      };
      if (!isTakenBack) return;
      await world.changeSpec({ version: from });
      await world.untilReconciled(upgradeLimitMs);
      await assertAllOn(world, from);
      found = { ...found, versionAfter: from, kills: killsOf(world).length };
    },
  );
  assert.ok(found);
  return found;
}
const patch = {
  Delete: shared(() => upgrade("7.3.27", "7.3.63", "Delete", true)),
  ReplaceTransactionSystem: shared(() => upgrade("7.3.27", "7.3.63", "ReplaceTransactionSystem")),
  Replace: shared(() => upgrade("7.3.27", "7.3.63", "Replace")),
};
const jump = {
  Delete: shared(() => upgrade(oldVersion, newVersion, "Delete")),
  ReplaceTransactionSystem: shared(() =>
    upgrade(oldVersion, newVersion, "ReplaceTransactionSystem"),
  ),
  Replace: shared(() => upgrade(oldVersion, newVersion, "Replace")),
};
const keptClasses = ({ kept }: Upgrade): string[] => [...new Set(kept)].sort();
item("A17.1", async () => {
  const found = await patch.Delete();
  assert.deepEqual([found.versionAfter, found.kills, found.pods], ["7.3.27", 0, 8]);
});
item("A17.2", () =>
  upgradeWorld({ spec: { version: newVersion } }, async (world) => {
    const images = await imagesOf(world);
    await world.changeSpec({ version: oldVersion });
    await untilBlocked(world, "VersionChangeRefused");
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(await imagesOf(world), images);
  }),
);
item("A18.1", async () => {
  for (const make of Object.values(patch)) {
    const found = await make();
    assert.deepEqual([found.version, found.kills], ["7.3.63", 0]);
    for (const image of found.images) assert.ok(image.endsWith(":7.3.63"), image);
  }
});
item("A18.2", async () => {
  const found = await patch.Delete();
  assert.deepEqual(
    [keptClasses(found), found.kept.length, found.isAnyPodOld],
    [["log", "stateless", "storage"], 8, false],
  );
});
item("A18.3", async () => {
  const found = await patch.ReplaceTransactionSystem();
  assert.deepEqual([keptClasses(found), found.kept.length], [["storage"], 3]);
});
item("A18.4", async () => assert.deepEqual(keptClasses(await patch.Replace()), []));
item("A19.1", async () => {
  const found = await jump.Delete();
  assert.deepEqual(
    [found.version, found.kills, found.kept.length, found.isAnyPodOld],
    [newVersion, 1, 8, false],
  );
});
together(["A19.2", "F06.1"], async () => {
  const found = await jump.ReplaceTransactionSystem();
  assert.deepEqual([found.version, found.kills, keptClasses(found)], [newVersion, 1, ["storage"]]);
});
item("A19.3", async () => {
  const found = await jump.Replace();
  assert.deepEqual([found.version, found.kills, keptClasses(found)], [newVersion, 1, []]);
});

const client = (...versions: string[]) => ({
  address: "172.31.0.7:41000",
  logGroup: "shop",
  versions,
});
async function withClient(world: TestWorld, ...versions: string[]): Promise<void> {
  const connectionString = (await world.cluster()).status?.connectionString ?? "";
  world.world.fdb.addClient(connectionString, client(...versions));
  await world.changeSpec({ version: newVersion });
}
item("A19.4", () =>
  upgradeWorld({}, async (world) => {
    await withClient(world, oldVersion, newVersion);
    await untilRunning(world, newVersion);
  }),
);
item("A19.5", () =>
  upgradeWorld({}, async (world) => {
    await withClient(world, oldVersion);
    await untilBlocked(world, "ClientsIncompatible");
    assert.match(
      await blockedBy(world),
      /172\.31\.0\.7:41000 \(log group shop, version 7\.1\.57\)/,
    );
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(killsOf(world), []);
  }),
);
item("A19.6", () =>
  upgradeWorld({ spec: { ignoreUpgradabilityChecks: true } }, async (world) => {
    await withClient(world, oldVersion);
    await untilRunning(world, newVersion);
  }),
);

interface Disturbance {
  spec?: Spec;
  world?: TestWorldOptions;
  /** Before the version changes. */
  before?: (world: TestWorld) => Promise<unknown>;
  /** While sidecars are being changed. */
  staging?: (world: TestWorld) => Promise<unknown>;
  /** When the new version runs and pods are being made anew. */
  rolling?: (world: TestWorld) => Promise<unknown>;
  /** What has to be put right by hand, so that it can end. */
  after?: (world: TestWorld) => Promise<unknown>;
  change?: object;
}
/** All processes change at once whatever happens beside. */
async function disturbed(given: Disturbance): Promise<void> {
  const podUpdateStrategy = "Delete" as const;
  const automationOptions = {
    waitBetweenRemovalsSeconds: 0,
    podUpdateStrategy,
    ...given.spec?.automationOptions,
  };
  const spec = {
    processCounts: { storage: 3, log: 3, stateless: 2 },
    ...given.spec,
    automationOptions,
  };
  await upgradeWorld({ nodes: 9, ...given.world, spec }, async (world) => {
    await given.before?.(world);
    await world.changeSpec({ version: newVersion, ...given.change });
    if (given.staging !== undefined) {
      await world.clock.advance(1_500);
      await given.staging(world);
    }
    await untilRunning(world, newVersion);
    await given.rolling?.(world);
    await given.after?.(world);
    await world.untilReconciled(upgradeLimitMs);
    await untilSettled(world, upgradeLimitMs);
    assert.ok(killsOf(world).length >= 1);
    await assertAllOn(world, newVersion);
  });
}
const removePod = async (world: TestWorld, processClass: string): Promise<void> => {
  const [pod] = await world.pods(processClass);
  await world.client.delete(pods, { namespace, name: pod?.metadata.name ?? "" });
};
const crash = async (world: TestWorld, ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    const ip = (await podOf(world, id)).status?.podIP ?? "";
    world.world.fdb.faults.crashProcess(`${ip}:4501`);
  }
};
together(["A19.7", "F05.6"], () =>
  disturbed({
    // A process that just started has no localities in the status for a moment.
    staging: async (world) => crash(world, [await firstOf(world, "stateless")]),
  }),
);
item("F05.1", () => disturbed({ rolling: (world) => removePod(world, "storage") }));
together(["F05.2", "F05.4"], () =>
  disturbed({ staging: async (world) => crash(world, [await coordinatorId(world)]) }),
);
item("F05.3", () => {
  let id = "";
  return disturbed({
    before: async (world) => {
      id = await firstOf(world, "stateless");
      const crashLoopContainers = [
        { containerName: "foundationdb-kubernetes-sidecar", targets: [id] },
      ];
      await world.changeSpec({ buggify: { crashLoopContainers } });
      await world.clock.advance(10 * minuteMs);
    },
    staging: async (world) => {
      await world.clock.advance(3 * minuteMs);
      assert.equal(killsOf(world).length, 0);
      await world.changeSpec({ buggify: null });
    },
  });
});
item("F05.5", () =>
  disturbed({ staging: async (world) => crash(world, await idsOf(world, "stateless")) }),
);
item("F05.7", () => {
  let id = "";
  return disturbed({
    before: async (world) => {
      id = await firstOf(world, "stateless");
      await world.changeSpec({ buggify: { blockRemoval: [id] }, processGroupsToRemove: [id] });
      await world.clock.advance(5 * minuteMs);
    },
    after: (world) => world.changeSpec({ buggify: null }),
  });
});
item("F05.8", () => {
  let name = "";
  return disturbed({
    before: async (world) => {
      const id = await firstOf(world, "stateless");
      name = nameOf(await podOf(world, id));
      await hold(world, "pod", name);
      await world.changeSpec({ processGroupsToRemove: [id] });
      await world.clock.advance(5 * minuteMs);
    },
    after: (world) => release(world, "pod", name),
  });
});
item("F05.9", () =>
  disturbed({
    spec: { automationOptions: { ignorePendingPodsDuration: 60e9 } },
    before: async (world) => {
      const id = await firstOf(world, "stateless");
      await world.changeSpec({ buggify: { noSchedule: [id] } });
      await world.clock.advance(5 * minuteMs);
    },
    after: (world) => world.changeSpec({ buggify: null }),
  }),
);
item("F05.12", () =>
  disturbed({ change: { processes: template({ env: [{ name: "OWN", value: "1" }] }) } }),
);

together(["F06.2", "F06.3"], () =>
  disturbed({ spec: { storageServersPerPod: 2, logServersPerPod: 2 } }),
);
item("F06.4", () =>
  disturbed({
    spec: { automationOptions: { maintenanceModeOptions: { UseMaintenanceModeChecker: true } } },
  }),
);
together(["F06.5", "F06.6"], () =>
  disturbed({
    spec: {
      automationOptions: {
        useLocalitiesForExclusion: false,
        podUpdateStrategy: "ReplaceTransactionSystem",
      },
      routing: { useDNSInClusterFile: false },
    },
  }),
);
item("F06.7", () =>
  disturbed({
    spec: {
      processCounts: { storage: 3, log: 3, stateless: 3, coordinator: 3 },
      coordinatorSelection: [{ processClass: "coordinator", priority: 1 }],
    },
    world: { nodes: 12 },
  }),
);
item("F06.8", () =>
  disturbed({
    spec: {
      faultDomain: { key: "example.org/rack", valueFrom: "$RACK" },
      processes: template({
        env: [{ name: "RACK", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
      }),
    },
  }),
);
const partition = (isReplaced: boolean): Promise<void> => {
  let lost: Awaited<ReturnType<typeof podOf>> | undefined;
  return disturbed({
    before: async (world) => {
      const id = await firstOf(world, "stateless");
      lost = await podOf(world, id);
      cut(world, lost);
      await world.clock.advance(2 * minuteMs);
      if (isReplaced) await world.changeSpec({ processGroupsToRemove: [id] });
    },
    after: async (world) => {
      if (lost !== undefined) heal(world, lost);
      await world.clock.advance(minuteMs);
    },
  });
};
item("F06.9", () => partition(false));
item("F06.10", () => partition(true));
item("F06.12", () =>
  disturbed({
    spec: { imageType: "split" },
    // Files of the ConfigMap come late into the pods.
    world: { kubelet: { configMapDelayMs: { min: 60_000, max: 90_000 } } },
  }),
);
item("F05.10", () =>
  disturbed({
    spec: {
      automationOptions: {
        maintenanceModeOptions: { UseMaintenanceModeChecker: true, resetMaintenanceMode: true },
      },
    },
    before: async (world) => {
      const group = (await world.cluster()).status?.processGroups?.find(
        (each) => each.processClass === "storage",
      );
      const connectionString = (await world.cluster()).status?.connectionString ?? "";
      const admin = world.world.fdb.admin.open({
        name: "person",
        connectionString,
        version: oldVersion,
      });
      await world.during(
        admin.setMaintenanceZone(group?.faultDomain ?? "", 300, 10_000),
        minuteMs,
        "maintenance",
      );
      admin.close();
    },
  }),
);
item("F05.11", () => {
  let node = "";
  return disturbed({
    before: async (world) => {
      node = (await podOf(world, await firstOf(world, "stateless"))).spec?.nodeName ?? "";
      await world.world.kubelet.cutNode(node);
      await world.clock.advance(10_000);
    },
    staging: async (world) => {
      await world.clock.advance(2 * minuteMs);
      assert.deepEqual(killsOf(world), [], "the pods of that node cannot be prepared");
      await world.world.kubelet.startNode(node);
    },
  });
});
item("F06.13", () =>
  upgradeWorld(
    { spec: { processCounts: eight, ...options({ podUpdateStrategy: "Delete" }) } },
    async (world) => {
      // There is no such image, so that no sidecar ever brings the new binary.
      const imageConfigs = [{ version: newVersion, tag: "no-such-tag" }];
      await world.changeSpec({ version: newVersion, mainContainer: { imageConfigs } });
      await world.clock.advance(5 * minuteMs);
      assert.deepEqual(killsOf(world), []);
      assert.match(await blockedBy(world), /no-such-tag|UpgradeStaging/);
      await world.changeSpec({ mainContainer: null });
      await untilRunning(world, newVersion);
      await world.untilReconciled(upgradeLimitMs);
      await assertAllOn(world, newVersion);
    },
  ),
);
item("F06.11", () =>
  disturbed({
    staging: async (world) => {
      const pod = await podOf(world, await firstOf(world, "stateless"));
      for (let round = 0; round < 5; round += 1) {
        cut(world, pod);
        await world.clock.advance(1_000);
        heal(world, pod);
        await world.clock.advance(2_000);
      }
    },
  }),
);
