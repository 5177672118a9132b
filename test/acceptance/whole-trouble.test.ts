// Checklist: trouble in whole worlds, maintenance, taints, and how long things take.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { newProgram } from "../../src/cli/program.ts";
import { version } from "../../src/env/program-version.ts";
import { nodes, pods } from "../../src/kube/resource.ts";
import { commandsOf, person, untilSettled } from "../world/removal-harness.ts";
import { acts, knobs, untilBlocked } from "../world/restart-harness.ts";
import { hourMs, minuteMs, small, tiny, TestWorld } from "../world/world-harness.ts";
import { long, shared } from "./checklist-case.ts";
import {
  cut,
  firstOf,
  groupOf,
  heal,
  idsOf,
  life,
  nameOf,
  namespace,
  podOf,
  template,
  uidsOf,
} from "./life.ts";

const { item, together } = long;

type Spec = Partial<ClusterSpec>;
const replacing = (more: object = {}): Spec => ({
  automationOptions: { replacements: { failureDetectionTimeSeconds: 60, ...more } },
});

item("F01.1", () =>
  life({}, async (world) => {
    for (const pod of await world.pods()) {
      const id = pod.metadata.labels?.["foundationdb.org/fdb-process-group-id"] ?? "";
      assert.equal((await groupOf(world, id))?.faultDomain, pod.spec?.nodeName);
    }
  }),
);
item("F01.2", () =>
  life({}, async (world) => {
    const cutPods = await world.pods("log");
    for (const pod of cutPods) cut(world, pod);
    await world.until(async () => {
      const { status } = await world.cluster();
      return status?.health?.available === false && status.health.healthy === false;
    }, "the database is told to be unavailable");
    for (const pod of cutPods) heal(world, pod);
    await world.untilReconciled(10 * minuteMs);
  }),
);

async function cordon(world: TestWorld, isUnschedulable: boolean): Promise<void> {
  for (const node of (await world.client.list(nodes, {})).items) {
    const spec = { unschedulable: isUnschedulable };
    await world.client.patch(nodes, { name: nameOf(node) }, { spec }, { type: "merge" });
  }
}
/** One storage process more, whose pod finds no node. */
async function unschedulable(world: TestWorld): Promise<string> {
  const before = await idsOf(world, "storage");
  await cordon(world, true);
  await world.changeSpec({ processCounts: { storage: 4 } });
  await world.clock.advance(minuteMs);
  const id = (await idsOf(world, "storage")).find((each) => !before.includes(each));
  assert.ok(id);
  assert.equal((await podOf(world, id)).status?.podIP, undefined);
  return id;
}
item("F01.8", () =>
  life({}, async (world) => {
    await world.changeSpec({ buggify: { noSchedule: [await firstOf(world, "storage")] } });
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ processCounts: { log: 4 } });
    await world.until(async () => {
      const logs = await world.pods("log");
      return logs.length === 4 && logs.every((pod) => pod.status?.phase === "Running");
    }, "the rest goes on");
  }),
);
together(["F01.9", "F01.26"], () =>
  life(replacing(), async (world) => {
    const id = await unschedulable(world);
    await world.until(
      async () => (await groupOf(world, id))?.removalTimestamp !== undefined,
      "it is given up",
      10 * minuteMs,
    );
    await cordon(world, false);
    await untilSettled(world, 2 * hourMs);
    assert.ok(!(await idsOf(world)).includes(id));
    assert.equal((await world.pods("storage")).length, 4);
  }),
);
item("F01.25", () =>
  life(replacing({ enabled: false }), async (world) => {
    const id = await unschedulable(world);
    await world.clock.advance(10 * minuteMs);
    assert.equal((await groupOf(world, id))?.removalTimestamp, undefined);
    await cordon(world, false);
    await world.untilReconciled(10 * minuteMs);
    assert.ok((await idsOf(world)).includes(id));
  }),
);
item("F01.23", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "storage");
    await world.changeSpec({
      buggify: { ignoreDuringRestart: [id] },
      ...knobs("knob_max_trace_lines=12345"),
    });
    const restarted = (): string[] =>
      acts(world, "killProcesses").flatMap((kill) => [...kill.processGroupIds]);
    await world.until(async () => restarted().length >= 8, "the others restart");
    assert.equal(restarted().length, 8);
    assert.ok(!restarted().includes(id));
  }),
);
item("F01.24", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "stateless");
    await world.changeSpec({ buggify: { blockRemoval: [id] }, processGroupsToRemove: [id] });
    await untilBlocked(world, "RemovalBlocked");
    await world.clock.advance(5 * minuteMs);
    assert.ok((await idsOf(world)).includes(id));
    await world.changeSpec({ buggify: null });
    await untilSettled(world);
    assert.ok(!(await idsOf(world)).includes(id));
  }),
);
item("F01.27", () =>
  life(
    { automationOptions: { podUpdateStrategy: "Delete" } },
    async (world) => {
      const before = await idsOf(world);
      await world.changeSpec({
        processes: template({ spec: { securityContext: { fsGroup: 4059 } } }),
      });
      await untilSettled(world, 40 * minuteMs);
      const after = await idsOf(world);
      assert.deepEqual([after.length, after.filter((id) => before.includes(id)).length], [9, 0]);
      for (const pod of await world.pods()) assert.equal(pod.spec?.securityContext?.fsGroup, 4059);
    },
    { operator: { plan: { replacesOnSecurityContextChange: true } } },
  ),
);
item("F01.28", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "storage");
    const crashLoopContainers = [
      { containerName: "foundationdb-kubernetes-sidecar", targets: [id] },
    ];
    await world.changeSpec({ buggify: { crashLoopContainers } });
    await world.until(
      async () => {
        const found = (await podOf(world, id)).spec?.containers.find(
          (each) => each.name !== "foundationdb",
        );
        return found?.args?.[0] === "crash-loop";
      },
      "the sidecar crashes",
      10 * minuteMs,
    );
    await world.clock.advance(5 * minuteMs);
    assert.ok((await idsOf(world)).includes(id), "it is not replaced");
    await world.changeSpec({ buggify: null });
    await world.untilReconciled(15 * minuteMs);
  }),
);
const setZone = (world: TestWorld, zone: string, seconds: number): Promise<void> =>
  person(world, (client) => client.setMaintenanceZone(zone, seconds, 10_000));
const zoneNow = async (world: TestWorld): Promise<string> =>
  (await person(world, (client) => client.status(10_000))).cluster?.maintenance_zone ?? "";
together(["F01.30", "F07.2"], () =>
  life(replacing(), async (world) => {
    const id = await firstOf(world, "storage");
    const pod = await podOf(world, id);
    await setZone(world, (await groupOf(world, id))?.faultDomain ?? "", 400);
    cut(world, pod);
    await world.clock.advance(5 * minuteMs);
    assert.equal((await groupOf(world, id))?.removalTimestamp, undefined);
    await world.until(
      async () => !(await idsOf(world)).includes(id),
      "after its end it is replaced",
      2 * hourMs,
    );
    heal(world, pod);
    await untilSettled(world);
  }),
);
const checker: Spec = {
  automationOptions: {
    podUpdateStrategy: "Delete",
    maintenanceModeOptions: { UseMaintenanceModeChecker: true },
  },
};
const maintained = shared(async () => {
  const found = { zones: new Set<string>(), last: "unknown", isHealthy: false, storage: 0 };
  await life(checker, async (world) => {
    const uids = uidsOf(await world.pods("storage"));
    await world.changeSpec({
      processes: template({ env: [{ name: "OWN", value: "1" }] }),
      processCounts: { storage: 4 },
    });
    await world.until(
      async () => {
        const zone = await zoneNow(world);
        if (zone !== "") found.zones.add(zone);
        const now = await world.pods("storage");
        return now.length === 4 && uidsOf(now).every((uid) => !uids.includes(uid));
      },
      "all storage pods are new",
      40 * minuteMs,
    );
    await world.untilReconciled(20 * minuteMs);
    found.last = await zoneNow(world);
    const { status } = await world.cluster();
    found.isHealthy = status?.health?.fullReplication === true;
    found.storage = (await world.pods("storage")).length;
  });
  return found;
});
item("F01.34", async () => assert.equal((await maintained()).last, ""));
item("F07.1", async () => {
  const found = await maintained();
  assert.ok(found.isHealthy && found.zones.size >= 1);
});
item("F07.5", async () => assert.equal((await maintained()).storage, 4));
/** A storage in another fault domain than the one under maintenance, and what became of the mode. */
function underMaintenance(
  during: (world: TestWorld, other: string) => Promise<void>,
  expected: (zone: string) => string,
): Promise<void> {
  return life({}, async (world) => {
    const [first = "", second = ""] = await idsOf(world, "storage");
    const zone = (await groupOf(world, first))?.faultDomain ?? "";
    await setZone(world, zone, 900);
    await during(world, second);
    assert.equal(await zoneNow(world), expected(zone));
    await person(world, (client) => client.resetMaintenanceZone(10_000));
    await untilSettled(world);
  });
}
item("F07.3", () =>
  underMaintenance(
    async (world, other) => {
      const pod = await podOf(world, other);
      cut(world, pod);
      await world.clock.advance(3 * minuteMs);
      heal(world, pod);
    },
    () => "",
  ),
);
item("F07.4", () =>
  underMaintenance(
    async (world) => {
      const encoder = new TextEncoder();
      for (let round = 0; round < 60; round += 1) {
        await person(world, (client) =>
          client.transact(
            async (transaction) => {
              for (let number = 0; number < 20; number += 1) {
                transaction.set(encoder.encode(`load/${number}`), encoder.encode(String(round)));
              }
            },
            { timeoutMs: 5_000 },
          ),
        );
        await world.clock.advance(3_000);
      }
    },
    (zone) => zone,
  ),
);
item("F01.35", () =>
  life(
    {
      faultDomain: { key: "example.org/rack", valueFrom: "$RACK" },
      processes: template({
        env: [{ name: "RACK", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      }),
    },
    async (world) => {
      for (const id of await idsOf(world)) {
        assert.equal((await groupOf(world, id))?.faultDomain, nameOf(await podOf(world, id)));
      }
    },
  ),
);
item("F01.36", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "storage");
    const node = (await podOf(world, id)).spec?.nodeName ?? "";
    await world.world.kubelet.cutNode(node);
    await world.clock.advance(5 * minuteMs);
    assert.equal((await world.cluster()).status?.health?.available, true);
    await world.world.kubelet.startNode(node);
    await world.clock.advance(2 * minuteMs);
    await world.untilReconciled(10 * minuteMs);
    assert.ok((await idsOf(world)).includes(id));
  }),
);
item("F01.38", () =>
  life({}, async (world) => {
    const id = await firstOf(world, "stateless");
    const name = nameOf(await podOf(world, id));
    const annotations = { "foundationdb.org/isolate-process-group": "true" };
    await world.client.patch(
      pods,
      { namespace, name },
      { metadata: { annotations } },
      { type: "merge" },
    );
    await world.changeSpec({ processGroupsToRemove: [id] });
    await untilBlocked(world, "RemovalBlocked");
    await world.clock.advance(5 * minuteMs);
    assert.ok((await world.pods()).map(nameOf).includes(name));
  }),
);
item("F01.41", () =>
  life({ automationOptions: { deletionMode: "None", removalMode: "None" } }, async (world) => {
    const id = await firstOf(world, "stateless");
    await world.changeSpec({ processGroupsToRemove: [id], ...knobs("knob_max_trace_lines=12345") });
    await world.until(
      async () => acts(world, "killProcesses").length > 0,
      "the knob is rolled out",
      15 * minuteMs,
    );
    await untilBlocked(world, "RemovalBlocked");
    assert.ok((await idsOf(world)).includes(id));
    assert.deepEqual(commandsOf(world, "removeProcessGroups"), []);
  }),
);

/** Pods on a tainted node move, or not. */
async function tainted(key: string, durationInSeconds: number): Promise<boolean> {
  let isEmpty = false;
  const taintReplacementOptions = [{ key, durationInSeconds }];
  const spec = replacing({
    taintReplacementOptions,
    taintReplacementTimeSeconds: 30,
    maxConcurrentReplacements: 3,
  });
  await life(
    spec,
    async (world) => {
      const node = (await podOf(world, await firstOf(world, "storage"))).spec?.nodeName ?? "";
      const taints = [{ key: "example.org/bad", effect: "NoSchedule" }];
      await world.client.patch(nodes, { name: node }, { spec: { taints } }, { type: "merge" });
      await world.clock.advance(15 * minuteMs);
      isEmpty = (await world.pods()).every((pod) => pod.spec?.nodeName !== node);
    },
    { nodes: 12 },
  );
  return isEmpty;
}
together(["F01.42", "F01.37"], async () => assert.ok(await tainted("example.org/bad", 10)));
item("F01.43", async () => assert.ok(await tainted("*", 10)));
item("F01.44", async () => assert.ok(!(await tainted("example.org/bad", 31_536_000))));

const minutesOf = (durationMs: number): number => Math.ceil(durationMs / minuteMs);
const rolled = shared(async () => {
  const found = { knob: 0, map: 0, replaced: 0 };
  await life({ automationOptions: { killProcesses: true } }, async (world) => {
    let startedMs = world.clock.nowMs();
    await world.changeSpec(knobs("knob_max_trace_lines=1"));
    await world.untilReconciled(15 * minuteMs);
    found.knob = minutesOf(world.clock.nowMs() - startedMs);
    await world.clock.advance(minuteMs);
    startedMs = world.clock.nowMs();
    await world.changeSpec({
      processGroupsToRemove: [await firstOf(world, "stateless")],
      ...knobs("knob_max_trace_lines=2"),
    });
    await untilSettled(world);
    found.replaced = minutesOf(world.clock.nowMs() - startedMs);
    await world.changeSpec({
      automationOptions: { killProcesses: false },
      ...knobs("knob_max_trace_lines=3"),
    });
    startedMs = world.clock.nowMs();
    await untilBlocked(world, "ProcessNeedsRestart");
    found.map = minutesOf(world.clock.nowMs() - startedMs);
  });
  return found;
});
item("F10.1", async () => assert.ok((await rolled()).map <= 1));
item("F10.2", async () => assert.ok((await rolled()).knob <= 2));
item("F10.4", async () => assert.ok((await rolled()).replaced <= 10));
item("F10.3", () =>
  life({ automationOptions: { ignoreMissingProcessesSeconds: 30 } }, async (world) => {
    const pod = await podOf(world, await firstOf(world, "stateless"));
    cut(world, pod);
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(knobs("knob_max_trace_lines=1"));
    const tookMs = await world.until(
      async () => acts(world, "killProcesses").length > 0,
      "the others restart",
      15 * minuteMs,
    );
    assert.ok(tookMs <= 5 * minuteMs);
    heal(world, pod);
  }),
);
item("F10.5", () =>
  TestWorld.run({ nodes: 9 }, async (world) => {
    await world.createCluster(small);
    const tookMs = await world.untilReconciled();
    assert.ok(tookMs <= minuteMs, `${tookMs} ms`);
  }),
);
item("F10.7", () =>
  TestWorld.run({ nodes: 3 }, async (world) => {
    for (let round = 0; round < 3; round += 1) {
      await world.createCluster(tiny);
      await world.untilReconciled();
      await world.client.delete(foundationDbClusters, { namespace, name: "sample" });
      await world
        .until(
          async () => (await world.client.list(pods, { namespace })).items.length === 0,
          "all gone",
          5 * minuteMs,
        )
        .catch(() => {});
      await world.clock.advance(minuteMs);
      assert.deepEqual((await world.client.list(pods, { namespace })).items, []);
    }
  }),
);
item("F10.8", () =>
  life({}, async (world) => {
    for (const processClass of ["storage", "log", "stateless"]) {
      const id = await firstOf(world, processClass);
      await world.changeSpec({ processGroupsToRemove: [id] });
      await untilSettled(world);
      assert.ok(!(await idsOf(world)).includes(id));
    }
  }),
);
item("F10.9", async () => {
  const program = newProgram("kubectl fdb", "");
  assert.equal(program.version(), version);
  assert.match(version, /^\d+\.\d+\.\d+/);
});
