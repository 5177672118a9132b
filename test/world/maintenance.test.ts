// A person announces that a node goes away and comes back: nothing is copied, operators keep their hands off, and it ends when
// all is back. Rules: spec/maintenance.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { personsMark, readMaintenanceList } from "../../src/fdb/maintenance-list.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { PodStreams } from "../../src/kube/pod-exec.ts";
import { openIn, runPlugin } from "../plugin/plugin-harness.ts";
import { copiedBytes, cordon, drain, untilWait, waitOf } from "./drain-harness.ts";
import { assertAllCopies, groups, person, spreadOver } from "./removal-harness.ts";
import { acts, knobs } from "./restart-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";

const counts = { storage: 5, log: 4, stateless: 3 };
const checker = { maintenanceModeOptions: { UseMaintenanceModeChecker: true } };

function withCluster(
  spec: Partial<ClusterSpec>,
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  const options = spreadOver(counts, { minimumUptimeSecondsForBounce: 20, ...spec });
  return TestWorld.runWithCluster(options, async (world) => {
    await world.clock.advance(3 * minuteMs);
    await body(world);
  });
}

/** A node with storage, by the name of its fault domain, which is the same here. */
async function storageNode(world: TestWorld, index = 0): Promise<string> {
  return (await groups(world, "storage"))[index]?.faultDomain ?? "";
}

function start(world: TestWorld, node: string, time = "30m") {
  return runPlugin(world, ["maintenance", "start", node, "-c", "sample", "--for", time, "--yes"]);
}

async function maintained(world: TestWorld): Promise<string> {
  const status = await person(world, (client) => client.status(50_000));
  return status.cluster?.maintenance_zone ?? "";
}

function listed(world: TestWorld): Promise<ReadonlyMap<string, number>> {
  return person(world, (admin) =>
    readMaintenanceList({ admin, keys: operatorKeys(), timeoutMs: 50_000 }),
  );
}

async function reboot(world: TestWorld, node: string, minutes: number): Promise<void> {
  const { kubelet } = world.world;
  await world.during(kubelet.stopNode(node), minuteMs, "it stops");
  await world.clock.advance(minutes * minuteMs);
  await world.during(kubelet.startNode(node), minuteMs, "it starts");
}

test("[DRAIN8] a drain of the node that is under maintenance says how to go on, and goes on then", async () => {
  await withCluster({ automationOptions: { drains: { enabled: true } } }, async (world) => {
    const node = await storageNode(world);
    assert.equal((await start(world, node)).code, 0);
    await cordon(world, node);
    const way = /under maintenance.*kubectl fdb maintenance end -c sample$/;
    const isTold = async (): Promise<boolean> =>
      way.test((await waitOf(world, "EvictionsHeld"))?.message ?? "");
    await world.until(isTold, "it says how to go on");
    const ended = await runPlugin(world, ["maintenance", "end", "-c", "sample", "--yes"]);
    assert.equal(ended.code, 0, ended.notes);
    await drain(world, [node]);
    await assertAllCopies(world);
  });
});

test("[MNT11] who is away during a maintenance is named, and nobody says that all processes run", async () => {
  await withCluster({}, async (world) => {
    const message = async (): Promise<string> =>
      conditionIn((await world.cluster()).status, "Degraded")?.message ?? "";
    const whole = await message();
    const node = await storageNode(world);
    assert.equal((await start(world, node)).code, 0);
    await world.clock.advance(minuteMs);
    assert.equal(await message(), whole);
    await world.during(world.world.kubelet.stopNode(node), minuteMs, "the loss of a node");
    await world.clock.advance(5 * minuteMs);
    const away = /^All processes run but storage-\d+, of whose data no other copies are made/;
    assert.match(await message(), away);
    await world.during(world.world.kubelet.startNode(node), minuteMs, "the node is back");
    await world.until(async () => (await message()) === whole, "all are back", 10 * minuteMs);
  });
});

for (const automationOptions of [{}, checker]) {
  const who = automationOptions === checker ? "with its own maintenance checks" : "without options";

  test(`[MNT1] [MNT5] [MNT6] ${who}: a node is rebooted, nothing is copied, and the maintenance ends when it is back`, async () => {
    await withCluster({ automationOptions }, async (world) => {
      const node = await storageNode(world);
      const before = copiedBytes(world);
      const started = await start(world, node);
      assert.equal(started.code, 0, started.notes);
      assert.ok((await listed(world)).has(personsMark(node)));
      // Long enough for every check of an operator.
      await world.clock.advance(5 * minuteMs);
      assert.equal(await maintained(world), node);
      await reboot(world, node, 8);
      await world.until(async () => (await maintained(world)) === "", "it ends", 10 * minuteMs);
      assert.equal(acts(world, "resetMaintenanceZone").length, 1);
      await world.untilReconciled(10 * minuteMs);
      await world.until(async () => (await listed(world)).size === 0, "the list is empty");
      assert.equal(copiedBytes(world), before);
      await assertAllCopies(world);
    });
  });

  test(`[MNT5] [MNT8] ${who}: a maintenance without a reboot lasts until its time is over`, async () => {
    await withCluster({ automationOptions }, async (world) => {
      const node = await storageNode(world);
      await start(world, node, "10m");
      await world.clock.advance(9 * minuteMs);
      assert.equal(await maintained(world), node);
      await world.clock.advance(2 * minuteMs);
      assert.equal(await maintained(world), "");
      assert.deepEqual(acts(world, "resetMaintenanceZone"), []);
      const isUnmarked = async (): Promise<boolean> =>
        !(await listed(world)).has(personsMark(node));
      await world.until(isUnmarked, "the mark is gone", 10 * minuteMs);
    });
  });

  test(`[MNT7] ${who}: a knob waits for the end of a person's maintenance`, async () => {
    await withCluster({ automationOptions }, async (world) => {
      const node = await storageNode(world);
      await start(world, node);
      await world.changeSpec(knobs("knob_min_trace_severity=5"));
      await world.until(
        async () =>
          /A person has fault domain/.test(
            (await world.cluster()).status?.blockedBy?.map(({ message }) => message).join() ?? "",
          ),
        "it waits",
      );
      await world.clock.advance(5 * minuteMs);
      assert.deepEqual(acts(world, "killProcesses"), []);
      assert.equal(await maintained(world), node);
      const ended = await runPlugin(world, ["maintenance", "end", "-c", "sample", "--yes"]);
      assert.equal(ended.code, 0, ended.notes);
      await world.untilReconciled(10 * minuteMs);
      assert.ok(acts(world, "killProcesses").length > 0);
      assert.deepEqual([...(await listed(world))], []);
    });
  });
}

test("[MNT6] [MNT7] an operator that has just started does not take a person's maintenance for its own (long)", async () => {
  await withCluster({ automationOptions: checker }, async (world) => {
    const node = await storageNode(world);
    await start(world, node);
    const general = { podTemplate: { spec: { terminationGracePeriodSeconds: 17 } } };
    await world.during(world.world.stopOperator(), minuteMs, "it stops");
    await world.changeSpec({
      processes: { general },
      automationOptions: { ...checker, podUpdateStrategy: "Delete" },
    });
    world.world.startOperator();
    await untilWait(world, "PodUpdateHeld");
    await world.clock.advance(5 * minuteMs);
    assert.equal(await maintained(world), node);
    assert.deepEqual(
      acts(world, "deletePods").filter(({ because }) => because === "update"),
      [],
    );
    await runPlugin(world, ["maintenance", "end", "-c", "sample", "--yes"]);
    await world.untilReconciled(60 * minuteMs);
    await assertAllCopies(world);
  });
});

test("[MNT2] [MNT4] a second one is refused, and status tells of the first", async () => {
  await withCluster({}, async (world) => {
    const [first, second] = [await storageNode(world), await storageNode(world, 1)];
    await start(world, first);
    for (const node of [first, second]) {
      const again = await start(world, node);
      assert.equal(again.code, 1);
      assert.match(
        again.notes,
        new RegExp(`fault domain ${first} is under maintenance for another \\d+ s, and there is`),
      );
    }
    const status = ["maintenance", "status", "sample"];
    const text = await runPlugin(world, status);
    assert.match(
      text.out,
      new RegExp(`^fault domain ${first} is under .* another \\d+ s, announced by a person\n$`),
    );
    const view = JSON.parse((await runPlugin(world, [...status, "-o", "json"])).out);
    assert.deepEqual([view.faultDomain, view.by, view.away], [first, "person", []]);
  });
});

test("[MNT4] a maintenance that an operator began is left to it", async () => {
  await withCluster({}, async (world) => {
    const node = await storageNode(world);
    await person(world, (admin) => admin.setMaintenanceZone(node, 600, 50_000));
    const ended = await runPlugin(world, ["maintenance", "end", "-c", "sample", "--yes"]);
    assert.equal(ended.code, 1);
    assert.match(ended.notes, /an operator has fault domain .* under maintenance/);
    assert.equal(await maintained(world), node);
  });
});

test("[MNT2] a zone of Kubernetes with several fault domains, and one without storage, are refused", async () => {
  await withCluster({}, async (world) => {
    const zone = await start(world, "zone-1");
    assert.equal(zone.code, 1);
    assert.match(
      zone.notes,
      /zone-1 has \d+ fault domains \(.*\), and FoundationDB has one under maintenance at a time: name one of them; nothing was changed/,
    );
    const used = new Set((await groups(world, "storage")).map(({ faultDomain }) => faultDomain));
    const other = (await groups(world)).find(({ faultDomain }) => !used.has(faultDomain));
    const empty = await start(world, other?.faultDomain ?? "");
    assert.match(empty.notes, /has no storage process, so that nothing would be copied/);
    assert.equal(await maintained(world), "");
    assert.deepEqual([...(await listed(world))], []);
  });
});

test("[MNT3] of two who begin at once the one who is too early is told, and the mark is taken back", async () => {
  await withCluster({}, async (world) => {
    const [first, second] = [await storageNode(world), await storageNode(world, 1)];
    const { exec } = await openIn(world.world)({});
    let isFirst = true;
    // Somebody else begins another one right after.
    const run: PodStreams["run"] = async (request) => {
      const result = await exec.run(request);
      if (isFirst && request.command.join(" ").includes("maintenance on")) {
        isFirst = false;
        const command = ["fdbcli", "--exec", `maintenance on ${second} 600`];
        await exec.run({ ...request, command });
      }
      return result;
    };
    const args = ["maintenance", "start", first, "-c", "sample", "--for", "30m", "--yes"];
    const result = await runPlugin(world, args, { exec: { ...streams(exec), run } });
    assert.equal(result.code, 1);
    assert.match(
      result.notes,
      new RegExp(`somebody else has put fault domain ${second} under maintenance at the same time`),
    );
    assert.equal(await maintained(world), second);
    assert.equal((await listed(world)).size, 0);
  });
});

/** A start; what the pods answer from its command on is changed. */
async function startWith(
  world: TestWorld,
  node: string,
  answer: (
    run: () => ReturnType<PodStreams["run"]>,
    isStart: boolean,
  ) => ReturnType<PodStreams["run"]>,
) {
  const { exec } = await openIn(world.world)({});
  let hasBegun = false;
  const run: PodStreams["run"] = (request) => {
    const isStart = request.command.join(" ").includes("maintenance on");
    hasBegun ||= isStart;
    return hasBegun ? answer(() => exec.run(request), isStart) : exec.run(request);
  };
  const args = ["maintenance", "start", node, "-c", "sample", "--for", "30m", "--yes"];
  return runPlugin(world, args, { exec: { ...streams(exec), run } });
}

const broken = new KubeError(0, "Aborted", "the connection was reset");

test("[MNT10] a start whose answer is lost has begun when the database says so, and keeps its mark", async () => {
  await withCluster({}, async (world) => {
    const node = await storageNode(world);
    let left = 4;
    const result = await startWith(world, node, async (run) => {
      const answer = await run();
      left -= 1;
      // The answer to the command, and to the first look at three pods.
      if (left >= 0) throw broken;
      return answer;
    });
    assert.equal(result.code, 0, result.notes);
    assert.equal(await maintained(world), node);
    assert.ok((await listed(world)).has(personsMark(node)));
  });
});

test("[MNT10] a start of which nobody knows what came says so, and a maintenance that began can be ended", async () => {
  await withCluster({}, async (world) => {
    const node = await storageNode(world);
    const result = await startWith(world, node, async (run) => {
      await run();
      throw broken;
    });
    assert.equal(result.code, 1);
    assert.match(result.notes, /it is not known whether fault domain .* is under maintenance now/);
    assert.doesNotMatch(result.notes, /nothing was changed/);
    assert.equal(await maintained(world), node);
    const ended = await runPlugin(world, ["maintenance", "end", "-c", "sample", "--yes"]);
    assert.equal(ended.code, 0, ended.notes);
    assert.equal(await maintained(world), "");
    assert.equal((await listed(world)).size, 0);
  });
});

test("[MNT10] a start that was refused leaves nothing in the list", async () => {
  await withCluster({}, async (world) => {
    const node = await storageNode(world);
    const result = await startWith(world, node, async (run, isStart) =>
      isStart
        ? { exitCode: 1, stdout: "", stdoutBytes: new Uint8Array(), stderr: "ERROR: no" }
        : run(),
    );
    assert.equal(result.code, 1);
    assert.match(result.notes, /ended with 1: ERROR: no/);
    assert.equal(await maintained(world), "");
    assert.equal((await listed(world)).size, 0);
  });
});

function streams(exec: PodStreams): PodStreams {
  return {
    run: (request) => exec.run(request),
    open: (request) => exec.open(request),
    followLog: (...given) => exec.followLog(...given),
  };
}

test("[MNT9] a database falls asleep when the maintenance is over", async () => {
  const routing = { useDNSInClusterFile: true };
  await withCluster({ routing }, async (world) => {
    await start(world, await storageNode(world), "10m");
    await world.changeSpec({ hibernate: true });
    await world.until(
      async () => /under maintenance/.test((await waitOf(world, "HibernationHeld"))?.message ?? ""),
      "it waits for the maintenance",
    );
    await world.until(async () => (await world.pods()).length === 0, "it sleeps", 30 * minuteMs);
  });
});
