// Entries in the coordination sets that nobody stands behind any more, and what other instances make of them.
// Rules: spec/multi.md [MU50]-[MU59].
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { updateSets } from "../../src/fdb/coordination-sets.ts";
import type { EntryUpdate } from "../../src/fdb/coordination-sets.ts";
import { hostOf } from "../../src/model/address.ts";
import { askOperator } from "../../src/cli/coordination.ts";
import type { CoordinationRequest } from "../../src/api/coordination-request.ts";
import type { StoredSet } from "../../src/fdb/keys.ts";
import { readLock } from "../../src/fdb/lock.ts";
import { transactShared } from "../../src/fdb/shared-keys.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { knobs } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

type Mode = "local" | "global";

const modeOf = (synchronizationMode: Mode) => ({ automationOptions: { synchronizationMode } });
const knob = (number: number) => knobs(`knob_max_trace_lines=${1000 + number}`);

function plainSpec(mode: Mode, more: Partial<ClusterSpec> = {}): Partial<ClusterSpec> {
  const { automationOptions, ...rest } = more;
  return {
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 3, stateless: 2 },
    minimumUptimeSecondsForBounce: 30,
    lockOptions: { disableLocks: false },
    automationOptions: {
      synchronizationMode: mode,
      waitBetweenRemovalsSeconds: 0,
      ...automationOptions,
    },
    ...rest,
  };
}

/** Clusters of one database at rest, each in its mode. */
async function run(
  modes: Readonly<Record<string, Mode>>,
  more: Partial<ClusterSpec> | ((name: string) => Partial<ClusterSpec>),
  body: (world: MultiTestWorld) => Promise<void>,
): Promise<void> {
  await MultiTestWorld.run({ names: Object.keys(modes), nodes: 4 }, async (world) => {
    await world.createJoined((name) =>
      plainSpec(modes[name] ?? "local", typeof more === "function" ? more(name) : more),
    );
    await world.untilAllReconciled();
    await world.clock.advance(3 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

async function groupsOf(world: MultiTestWorld, name: string, ...classes: string[]) {
  const groups = (await world.cluster(name)).status?.processGroups ?? [];
  return groups.filter(({ processClass }) => classes.includes(processClass));
}

async function replace(world: MultiTestWorld, name: string, ...classes: string[]): Promise<void> {
  const processGroupsToRemove = (await groupsOf(world, name, ...classes)).map(
    ({ processGroupID }) => processGroupID,
  );
  await world.at(name).changeSpec({ processGroupsToRemove }, { name });
}

async function untilEntry(world: MultiTestWorld, start: string): Promise<void> {
  for (let count = 0; count < 600; count += 1) {
    if ((await world.entries()).some((entry) => entry.startsWith(start))) return;
    await world.clock.advance(100);
  }
  assert.fail(`no entry ${start}`);
}

async function waitOf(world: MultiTestWorld, name: string, reason: string): Promise<string> {
  const { status } = await world.cluster(name);
  return status?.blockedBy?.find((wait) => wait.reason === reason)?.message ?? "";
}

/** As `kubectl fdb coordination` asks. */
function ask(world: MultiTestWorld, name: string, request: Omit<CoordinationRequest, "id">) {
  const key = { namespace: "default", name };
  const asked = { id: String(world.clock.nowMs()), ...request };
  const answer = askOperator(world.at(name).client, world.clock, key, asked);
  return world.first.during(answer, minuteMs, "the answer");
}

for (const useLocalitiesForExclusion of [true, false]) {
  const how = useLocalitiesForExclusion ? "localities" : "addresses";
  test(`[MU50] entries of process groups that are gone exclude nobody, by ${how} (long)`, async () => {
    const automationOptions = { useLocalitiesForExclusion };
    await run({ east: "global", west: "local" }, { automationOptions }, async (world) => {
      const living = await groupsOf(world, "west", "log", "stateless");
      const hosts = living.flatMap(({ addresses = [] }) => addresses);
      assert.ok(hosts.length >= 5);
      // What the pods had announced whose addresses these processes have got since.
      const gone = new Map<string, EntryUpdate>();
      const pending = new Map<string, EntryUpdate>();
      for (const [index, host] of hosts.entries()) {
        const id = `west-log-${90_000 + index}`;
        const target = useLocalitiesForExclusion ? `locality_instance_id:${id}` : host;
        gone.set(id, { action: "add", targets: [target] });
        pending.set(id, { action: "add" });
      }
      await world.withKeys((shared) =>
        updateSets(shared, "west", { pendingForExclusion: pending, readyForExclusion: gone }),
      );
      await replace(world, "east", "log", "stateless");
      await world.untilAllReconciled(2 * hourMs);
      const targets = world.acts("excludeProcesses").flatMap(({ action }) => action.targets);
      assert.ok(targets.length > 0);
      const strangers = targets.filter(
        (target) => target.includes("west-") || hosts.includes(hostOf(target)),
      );
      assert.deepEqual(strangers, []);
    });
  });
}

test("[MU51] an instance that goes to local mode takes its entries out, and the others go on", async () => {
  await run({ east: "global", west: "global" }, {}, async (world) => {
    assert.equal((await world.cluster("west")).status?.coordinationPrefix, "west");
    await world.changeAll(knob(1));
    await untilEntry(world, "pendingForRestart/west-");
    await world.at("west").changeSpec(modeOf("local"), { name: "west" });
    await world.untilAllReconciled(20 * minuteMs);
    await world.untilNoEntries(minuteMs);
    assert.equal((await world.cluster("west")).status?.coordinationPrefix, undefined);
    const killed = world.acts("killProcesses").flatMap(({ action }) => action.processGroupIds);
    assert.equal(new Set(killed).size, killed.length, "nobody is restarted twice");
  });
});

test("[MU52] [CO68] what a dead operator announced is taken out by a person, while its pods live and all stay global (long)", async () => {
  await run({ east: "global", west: "global" }, {}, async (world) => {
    await world.changeAll(knob(1));
    await untilEntry(world, "pendingForRestart/west-");
    await world.crashOperator("west");
    await world.clock.advance(5 * minuteMs);
    assert.match(await waitOf(world, "east", "InstanceNotReady"), /instance west is not ready/);
    const clear = { verb: "clear", prefix: "west" } as const;
    const refused = await ask(world, "east", clear);
    assert.match(refused.problem ?? "", /processes of west live: .*--abandoned/);
    assert.ok(refused.entries.some((entry) => entry.startsWith("pendingForRestart/west/")));
    const early = await ask(world, "east", { ...clear, isAbandoned: true });
    assert.match(early.problem ?? "", /seen first \d minutes ago/);
    await world.clock.advance(6 * minuteMs);
    const cleared = await ask(world, "east", { ...clear, isAbandoned: true });
    assert.deepEqual([cleared.problem, cleared.entries], [undefined, refused.entries]);
    await world.at("east").untilReconciled(5 * minuteMs, { name: "east" });
    assert.equal(world.acts("killProcesses").length, 1);
    world.startOperator("west");
    await world.untilAllReconciled(20 * minuteMs);
    assert.equal(world.acts("killProcesses").length, 2);
    await world.untilNoEntries(minuteMs);
  });
});

test("[MU53] two resources with one prefix say so, do not fight, and hold nobody back (long)", async () => {
  const prefixes = { east: "twin", west: "twin", north: "north" };
  const specOf = (name: string) => ({
    processGroupIDPrefix: prefixes[name as keyof typeof prefixes],
  });
  await run({ east: "global", west: "global", north: "global" }, specOf, async (world) => {
    const startMs = world.clock.nowMs();
    await world.changeAll(knob(1));
    await world.at("north").untilReconciled(10 * minuteMs, { name: "north" });
    await world.clock.advance(20 * minuteMs);
    for (const name of ["east", "west"]) {
      assert.match(await waitOf(world, name, "PrefixShared"), /processGroupIDPrefix twin: twin-/);
    }
    const told = world.acts("updateCoordination", startMs).filter(({ name }) => name !== "north");
    assert.ok(told.length < 5, `${told.length} updates against each other`);
    assert.deepEqual(await world.entries(), []);
    assert.equal(world.acts("killProcesses").length, 1);
    await world.at("west").changeSpec({ processGroupIDPrefix: "west" }, { name: "west" });
    await world.untilAllReconciled(6 * hourMs);
    await world.untilNoEntries(minuteMs);
    const ids = (await groupsOf(world, "west", "storage", "log", "stateless")).map(
      ({ processGroupID }) => processGroupID,
    );
    assert.ok(ids.every((id) => id.startsWith("west-")));
  });
});

test("[MU55] the most patient instance decides when all are restarted (long)", async () => {
  const patient = { minimumUptimeSecondsForBounce: 600 };
  const specOf = (name: string) => (name === "west" ? patient : {});
  await run({ east: "global", west: "global" }, specOf, async (world) => {
    await world.clock.advance(10 * minuteMs);
    for (const number of [1, 2]) {
      await world.changeAll(knob(number));
      await world.untilAllReconciled(20 * minuteMs);
    }
    const [first, second, ...more] = world.acts("killProcesses");
    assert.ok(first !== undefined && second !== undefined && more.length === 0);
    const seconds = (second.atMs - first.atMs) / 1000;
    assert.ok(seconds >= 600, `restarted again after ${seconds} s`);
    assert.match(second.action.processGroupIds.join(), /east-.*west-/);
  });
});

test("[MU56] the lock of an instance that changes its prefix is free within seconds (long)", async () => {
  await run({ east: "global", west: "global" }, {}, async (world) => {
    await world.at("east").changeSpec(knob(1), { name: "east" });
    await world
      .at("east")
      .until(async () => world.acts("killProcesses").length > 0, "processes are restarted");
    assert.equal((await world.withKeys(readLock))?.owner, "east");
    await world.at("east").changeSpec({ processGroupIDPrefix: "unicorn" }, { name: "east" });
    await world.clock.advance(20_000);
    assert.notEqual((await world.withKeys(readLock))?.owner, "east");
    await world.untilAllReconciled(6 * hourMs);
    await world.untilNoEntries(minuteMs);
  });
});

/** What the Go operator leaves in global mode: the second of the announcement as a tuple, and addresses as JSON. */
async function leaveAsGo(world: MultiTestWorld, prefix: string, ids: readonly string[]) {
  const writtenAt = Uint8Array.of(0x18, 0x67, 0x89, 0xab, 0xcd);
  const addresses = new TextEncoder().encode('["10.1.0.1"]');
  await world.withKeys((shared) =>
    transactShared(shared, async (transaction) => {
      const put = (set: StoredSet, processGroupId: string, value: Uint8Array): void =>
        transaction.set(
          shared.keys.setEntry(set, { processGroupIdPrefix: prefix, processGroupId }),
          value,
        );
      for (const id of ids) {
        put("pendingForRestart", id, writtenAt);
        put("processAddresses", id, addresses);
      }
    }),
  );
}

test("[MU54] a database changes hands from the Go operator to this one and back, in the order of the manual (long)", async () => {
  await run({ east: "local", west: "local" }, {}, async (world) => {
    // Global mode of the Go operator, then local mode for all: its entries stay.
    for (const name of world.names) {
      const groups = await groupsOf(world, name, "storage", "log", "stateless");
      await leaveAsGo(world, name, [
        `${name}-log-7`,
        ...groups.map(({ processGroupID }) => processGroupID),
      ]);
    }
    // This operator runs both, in local mode: nothing of it is in the sets.
    await world.clock.advance(5 * minuteMs);
    const left = await world.entries();
    // Too early: what west has left says that another operator may still be at work.
    await world.at("east").changeSpec(modeOf("global"), { name: "east" });
    await world.at("east").changeSpec(knob(1), { name: "east" });
    await world.clock.advance(10 * minuteMs);
    assert.match(
      await waitOf(world, "east", "CoordinationForeign"),
      /another operator: west\/west-/,
    );
    const now = await world.entries();
    assert.deepEqual(
      now.filter((entry) => entry.includes("/west-")),
      left.filter((entry) => entry.includes("/west-")),
      "what belongs to others stays as it is",
    );
    assert.deepEqual(
      now.filter((entry) => entry.includes("/east-")),
      [],
      "and nothing is written",
    );
    assert.equal(world.acts("killProcesses").length, 0);
    // Global again for all: each takes out what its predecessor left.
    await world.at("west").changeSpec(modeOf("global"), { name: "west" });
    await world.at("west").changeSpec(knob(1), { name: "west" });
    await world.untilAllReconciled(20 * minuteMs);
    await world.untilNoEntries(minuteMs);
    assert.equal(world.acts("killProcesses").length, 1);
    // An instance without a prefix is nobody's: a person takes out what it left.
    await leaveAsGo(world, "", ["log-1"]);
    await world.clock.advance(3 * minuteMs);
    const degraded = conditionIn((await world.cluster("west")).status, "Degraded");
    assert.equal(degraded?.reason, "CoordinationForeign");
    const cleared = await ask(world, "east", { verb: "clear", prefix: "" });
    assert.deepEqual(cleared.problem, undefined);
    assert.equal(cleared.entries.length, 2);
    // And back, in the middle of work: local mode for all leaves nothing that the Go operator could stumble over.
    await world.changeAll(knob(2));
    await untilEntry(world, "pendingForRestart/");
    await world.changeAll(modeOf("local"));
    await world.untilAllReconciled(20 * minuteMs);
    await world.untilNoEntries(minuteMs);
    assert.deepEqual((await ask(world, "west", { verb: "show" })).entries, []);
  });
});
