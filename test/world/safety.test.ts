// The one door in a whole world: what it refuses, and that everything comes right when the reason has gone.
// Rules: spec/safety.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { LockWatch, takeLock } from "../../src/fdb/lock.ts";
import { nodes, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { withoutCheck } from "../fixtures/without-check.ts";
import { minuteMs, small, TestWorld } from "./world-harness.ts";
import { person, spreadOver, untilSettled } from "./removal-harness.ts";
import { withAdmin } from "./with-admin.ts";

/** The largest number of zones that had a storage pod which did not run, looked at every second. */
async function worstMoment(world: TestWorld, durationMs: number, stepMs = 1_000): Promise<number> {
  let worst = 0;
  for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
    await world.clock.advance(stepMs);
    const found = await world.pods("storage");
    const running = found.filter(
      (pod) => pod.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined,
    );
    worst = Math.max(worst, 3 - running.length);
  }
  return worst;
}

const marked = (value: string) => ({
  processes: {
    storage: {
      podTemplate: {
        spec: { containers: [{ name: "foundationdb", env: [{ name: "MARK", value }] }] },
      },
    },
  },
});

test("[S78] pods of different zones are never down together at a fault tolerance of one", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 6 }, async (world) => {
    const before = new Set((await world.pods("storage")).map((pod) => pod.metadata.uid));
    await world.changeSpec(marked("new"));
    assert.equal(await worstMoment(world, 15 * minuteMs), 1);
    const after = (await world.pods("storage")).map((pod) => pod.metadata.uid);
    assert.equal(after.filter((uid) => before.has(uid)).length, 0, "all of them were made anew");
    world.assertDataSafe();
  });
});

test("[S78] while a person's act has a zone down, nothing more is taken down, and it says why", async () => {
  await TestWorld.runWithCluster({ spec: small, nodes: 6 }, async (world) => {
    const [first] = await world.pods("storage");
    const name = first?.metadata.name ?? "";
    const { items } = await world.client.list(nodes, {});
    for (const node of items) {
      await world.client.update(nodes, { ...node, spec: { ...node.spec, unschedulable: true } });
    }
    await world.client.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
    await world.clock.advance(5_000);
    await world.changeSpec(marked("new"));
    assert.equal(await worstMoment(world, 5 * minuteMs), 1);
    const { status } = await world.cluster();
    const reasons = (status?.blockedBy ?? []).map((entry) => entry.reason);
    assert.ok(reasons.includes("PodUnschedulable"), reasons.join());
    for (const { metadata } of items) {
      const node = await world.client.get(nodes, { name: metadata.name ?? "" });
      await world.client.update(nodes, { ...node, spec: { ...node.spec, unschedulable: false } });
    }
    await world.untilReconciled();
    world.assertDataSafe();
  });
});

test("[S11] between two commands to the database there is always a new status", async () => {
  const history: string[] = [];
  const note = (name: string): void => void history.push(name);
  const wrapAdmin = withAdmin((client) => ({
    status: (...parts) => (note("status"), client.status(...parts)),
    configure: (...parts) => (note("configure"), client.configure(...parts)),
    exclude: (...parts) => (note("exclude"), client.exclude(...parts)),
    include: (...parts) => (note("include"), client.include(...parts)),
    kill: (...parts) => (note("kill"), client.kill(...parts)),
    changeCoordinators: (...parts) => (note("coordinators"), client.changeCoordinators(...parts)),
  }));
  const options = spreadOver({ storage: 4, log: 4, stateless: 4 });
  await TestWorld.runWithCluster({ ...options, wrapAdmin }, async (world) => {
    await world.clock.advance(20 * minuteMs);
    await world.changeSpec({
      processCounts: { storage: 3, log: 3, stateless: 3 },
      databaseConfiguration: { redundancy_mode: "double", logs: 2 },
    });
    await untilSettled(world);
    const text = history.join(" ").replaceAll(/(status ?)+/g, "S ");
    assert.match(text, /configure/);
    assert.match(text, /exclude/);
    assert.doesNotMatch(text.replaceAll("exclude S", "S"), /[a-z]+ [a-z]+/, text);
  });
});

test("[S70] a database that falls silent is left alone, and the reason is told", async () => {
  let isSilent = false;
  const wrapAdmin = withAdmin((client) => ({
    status: (timeoutMs) => (isSilent ? new Promise(() => {}) : client.status(timeoutMs)),
  }));
  const options = spreadOver({ storage: 4, log: 3, stateless: 3 });
  await TestWorld.runWithCluster({ ...options, wrapAdmin }, async (world) => {
    await world.clock.advance(10 * minuteMs);
    isSilent = true;
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec({ processCounts: { storage: 3 } });
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await person(world, (client) => client.excluded(10_000)), []);
    const { status } = await world.cluster();
    const texts = (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`);
    assert.ok(
      texts.some((text) => /old|not answer|no status/.test(text)),
      texts.join("\n"),
    );
  });
});

const counts = { storage: 4, log: 3, stateless: 3 };

/** Processes that are excluded seem to keep their roles as long as `isHeld` says so. */
function stubbornRoles(isHeld: () => boolean) {
  return withAdmin((client) => ({
    async status(timeoutMs): Promise<DatabaseStatus> {
      const status = structuredClone(await client.status(timeoutMs));
      for (const process of Object.values(status.cluster?.processes ?? {})) {
        if (isHeld() && process.excluded === true) process.roles = [{ role: "storage" }];
      }
      return status;
    },
  }));
}

test("[S82] a storage goes only with its certificate, and with it it goes", async () => {
  let isHeld = true;
  const options = { ...spreadOver(counts), wrapAdmin: stubbornRoles(() => isHeld) };
  await TestWorld.runWithCluster(options, async (world) => {
    await world.changeSpec({ processCounts: { storage: 3 } });
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.pods("storage")).length, 4);
    const { status } = await world.cluster();
    const texts = (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`);
    assert.ok(
      texts.some((text) => /storage/.test(text) && /^(CertificateMissing|Exclusion)/.test(text)),
      texts.join("\n"),
    );
    isHeld = false;
    await untilSettled(world);
    assert.equal((await world.pods("storage")).length, 3);
    const claims = await world.client.list(persistentVolumeClaims, { namespace: "default" });
    assert.equal(claims.items.length, 6);
    world.assertDataSafe();
  });
});

test("[S42] a restart that killed nothing is noticed and tried again", async () => {
  let ignored = 0;
  const kills: string[][] = [];
  const wrapAdmin = withAdmin((client) => ({
    kill: async (addresses, timeoutMs) => {
      kills.push([...addresses]);
      if (ignored === 0) {
        ignored += 1;
        return;
      }
      await client.kill(addresses, timeoutMs);
    },
  }));
  await TestWorld.runWithCluster({ spec: small, nodes: 6, wrapAdmin }, async (world) => {
    await world.clock.advance(15 * minuteMs);
    await world.changeSpec({
      processes: { general: { customParameters: ["knob_max_trace_lines=1000000"] } },
    });
    await world.untilReconciled();
    assert.equal(kills.length, 3, "the first one, the first one again, all others");
    assert.deepEqual(kills[0]?.sort(), kills[1]?.sort());
  });
});

test("[S121] a restart that never has an effect is tried ever more seldom, and it is said how often (long)", async () => {
  let isIgnored = true;
  const killedMs: number[] = [];
  let nowMs = (): number => 0;
  const wrapAdmin = withAdmin((client) => ({
    kill: async (addresses, timeoutMs) => {
      killedMs.push(nowMs());
      if (!isIgnored) await client.kill(addresses, timeoutMs);
    },
  }));
  await TestWorld.runWithCluster({ spec: small, nodes: 6, wrapAdmin }, async (world) => {
    nowMs = () => world.clock.nowMs();
    await world.clock.advance(15 * minuteMs);
    await world.changeSpec({
      processes: { general: { customParameters: ["knob_max_trace_lines=1000000"] } },
    });
    await world.clock.advance(20 * minuteMs);
    const pausesMs = killedMs.slice(1).map((atMs, index) => atMs - (killedMs[index] ?? 0));
    assert.ok(pausesMs.length >= 4, pausesMs.join(", "));
    for (const [index, pauseMs] of pausesMs.entries()) {
      const leastMs = Math.min(600_000, 10_000 * 2 ** index);
      assert.ok(pauseMs >= leastMs && pauseMs < leastMs + 60_000, pausesMs.join(", "));
    }
    const texts = (await world.cluster()).status?.blockedBy?.map(({ message }) => message) ?? [];
    const often = `succeeded ${killedMs.length} times in a row`;
    assert.ok(
      texts.some((text) => text.includes(often)),
      texts.join("\n"),
    );
    isIgnored = false;
    await world.untilReconciled(15 * minuteMs);
    assert.equal((await world.cluster()).status?.blockedBy, undefined);
  });
});

test("[OP62] a command that failed and took effect is forgotten with the first status that shows it", async () => {
  let failedMs: number | undefined;
  let nowMs = (): number => 0;
  const wrapAdmin = withAdmin((client) => ({
    configure: async (text, timeoutMs) => {
      await client.configure(text, timeoutMs);
      if (text.startsWith("new")) return;
      failedMs = nowMs();
      throw new Error("no answer in time");
    },
  }));
  await TestWorld.runWithCluster({ spec: small, nodes: 6, wrapAdmin }, async (world) => {
    nowMs = () => world.clock.nowMs();
    await world.clock.advance(15 * minuteMs);
    // The restart waits for minutes after the recovery, and all that time there is something to tell.
    await world.changeSpec({
      databaseConfiguration: { redundancy_mode: "double", logs: 4 },
      processes: { general: { customParameters: ["knob_max_trace_lines=1000000"] } },
    });
    await world.clock.advance(minuteMs);
    assert.ok(failedMs !== undefined);
    const told = world.activities.flatMap((each) => (each.type === "waits" ? [each] : []));
    const last = told.findLast(({ waits }) =>
      waits.some(({ reason }) => reason === "ActionFailed"),
    );
    assert.ok(last !== undefined && told.at(-1)?.waits.length !== 0);
    assert.ok(last.atMs - failedMs < 3_000, `${last.atMs - failedMs} ms`);
  });
});

test("[OP78] a failed command that nothing wants now does not keep the operator busy", async () => {
  let isSilent = false;
  const never = Promise.withResolvers<never>().promise;
  const wrapAdmin = withAdmin((client) => ({
    status: (timeoutMs) => (isSilent ? never : client.status(timeoutMs)),
    configure: async (text, timeoutMs) => {
      await client.configure(text, timeoutMs);
      if (text.startsWith("new")) return;
      isSilent = true;
      throw new Error("no answer in time");
    },
  }));
  await TestWorld.runWithCluster({ spec: small, nodes: 6, wrapAdmin }, async (world) => {
    await world.clock.advance(15 * minuteMs);
    await world.changeSpec({ databaseConfiguration: { redundancy_mode: "double", logs: 4 } });
    await world.clock.advance(5_000);
    assert.ok(isSilent);
    const before = world.world.operator.counters().passes;
    await world.clock.advance(20_000);
    const passes = world.world.operator.counters().passes - before;
    assert.ok(passes <= 25, `${passes} passes in 20 s`);
  });
});

test("[S86] without the budget two zones do go down together: the check is what holds them", async () => {
  const checks = withoutCheck("budget");
  const automationOptions = { deletionMode: "All" } as const;
  const spec = { ...small, automationOptions };
  await TestWorld.runWithCluster({ spec, nodes: 6, checks }, async (world) => {
    await world.changeSpec(marked("new"));
    assert.ok((await worstMoment(world, minuteMs, 100)) > 1);
  });
  await TestWorld.runWithCluster({ spec, nodes: 6 }, async (world) => {
    await world.changeSpec(marked("new"));
    assert.ok((await worstMoment(world, minuteMs, 100)) <= 1);
  });
});

test("[S84] a removal without exclusion is told by a Warning", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    const [group] = (await world.cluster()).status?.processGroups ?? [];
    const coordinators = (await world.cluster()).status?.connectionString ?? "";
    const chosen = (await world.cluster()).status?.processGroups?.find(
      ({ processClass, processGroupID }) =>
        processClass === "storage" && !coordinators.includes(processGroupID),
    );
    const id = chosen?.processGroupID ?? group?.processGroupID ?? "";
    await world.changeSpec({ processGroupsToRemoveWithoutExclusion: [id] });
    await untilSettled(world);
    const events = await world.events("RemovedWithoutExclusion");
    assert.equal(events.length, 1);
    assert.equal(events[0]?.type, "Warning");
    assert.match(events[0]?.message ?? "", new RegExp(id));
    world.assertDataSafe();
  });
});

test("[S96] [OP51] what the guard refuses stands in blockedBy until it is allowed, and is not asked for all the time", async () => {
  let transactions = 0;
  const wrapAdmin = withAdmin((client) => ({
    transact(body, options) {
      transactions += 1;
      return client.transact(body, options);
    },
  }));
  const spec = { ...spreadOver(counts).spec, lockOptions: { disableLocks: false } };
  await TestWorld.runWithCluster({ ...spreadOver(counts), spec, wrapAdmin }, async (world) => {
    const shared = (client: AdminClient) => ({ admin: client, keys: operatorKeys() });
    const settings = { owner: "elsewhere", durationMs: 5 * minuteMs, watch: new LockWatch() };
    await world.clock.advance(10 * minuteMs);
    await person(world, (client) => takeLock(shared(client), settings, world.clock));
    await world.changeSpec({ processCounts: { storage: 3 } });
    const blocked = async () =>
      ((await world.cluster()).status?.blockedBy ?? []).find(({ reason }) => reason === "LockHeld");
    await world.until(async () => (await blocked()) !== undefined, "it waits for the lock");
    const entry = await blocked();
    assert.equal(entry?.step, "excludeProcesses");
    assert.match(
      entry?.message ?? "",
      /held by "elsewhere"; unless it is renewed, it is taken over at 20/,
    );
    assert.match(entry?.remedy ?? "", /denyList/);
    const conditions = (await world.cluster()).status?.conditions ?? [];
    const reconciled = conditions.find(({ type }) => type === "Reconciled");
    assert.equal(reconciled?.reason, "LockHeld");
    const asked = transactions;
    await world.clock.advance(2 * minuteMs);
    assert.ok(transactions - asked <= 12, `${transactions - asked} transactions in two minutes`);
    await untilSettled(world);
    assert.equal((await world.pods("storage")).length, 3);
  });
});

test("[S98] a person's exclusion and a person's coordinators stay", async () => {
  await TestWorld.runWithCluster(spreadOver(counts), async (world) => {
    const { status } = await world.cluster();
    const groups = status?.processGroups ?? [];
    const storages = groups.filter(({ processClass }) => processClass === "storage");
    const connection = status?.connectionString ?? "";
    const names = (await world.pods("storage")).map((pod) => pod.metadata.name ?? "");
    const [spare] = storages.filter((group) =>
      names.every(
        (name) => !name.endsWith(group.processGroupID) || !connection.includes(`${name}.`),
      ),
    );
    const target = `locality_instance_id:${spare?.processGroupID ?? ""}`;
    await person(world, (client) => client.exclude([target], { wait: false, timeoutMs: 10_000 }));
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(await person(world, (client) => client.excluded(10_000)), [target]);
    const logs = (await world.pods("log")).map((pod) => pod.metadata.name ?? "");
    const others = [...names, ...logs].filter(
      (name) => !name.endsWith(spare?.processGroupID ?? ""),
    );
    const addresses = others
      .filter((name) => !connection.includes(`${name}.`))
      .slice(0, 3)
      .map((name) => `${name}.sample.default.svc.cluster.local:4501`);
    assert.equal(addresses.length, 3);
    const chosen = await person(world, (client) => client.changeCoordinators(addresses, 30_000));
    await world.clock.advance(10 * minuteMs);
    assert.equal((await world.cluster()).status?.connectionString, chosen);
    assert.equal(
      world.activities.filter(
        (activity) =>
          activity.type === "action" &&
          ["includeProcesses", "changeCoordinators"].includes(activity.action.type),
      ).length,
      0,
    );
  });
});
