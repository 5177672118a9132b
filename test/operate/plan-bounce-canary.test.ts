// Who tries a new command line before all others, and what holds the others back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import {
  away,
  idsOf,
  killed,
  knob,
  KnobWorld,
  processOf,
  roles,
  small,
  waitOf,
} from "./knob-world.ts";

test("[T111] the first one has no role, else storage alone, else the cheapest role, and is never leaving or excluded", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [stateless = ""] = idsOf(world, "stateless");
  const logs = idsOf(world, "log");
  const first = (change: (status: DatabaseStatus) => void): string[] =>
    killed(world.restart(change)) ?? [];
  const busy = (status: DatabaseStatus): void => {
    for (const id of idsOf(world, "stateless")) roles(status, id, "commit_proxy");
    for (const id of logs) roles(status, id, "log");
    for (const id of idsOf(world, "storage")) roles(status, id, "storage");
  };
  const idle = (...ids: string[]) =>
    first((status) => {
      busy(status);
      for (const id of ids) roles(status, id);
    });
  assert.deepEqual(idle(...logs, stateless), [stateless]);
  const spare = idsOf(world, "storage").at(-1) ?? "";
  assert.deepEqual(idle(...logs, spare), [spare], "the logs are coordinators here");
  const [chosen = ""] = first(busy);
  assert.ok(chosen.startsWith("storage-"), chosen);
  const second = first((status) => {
    busy(status);
    processOf(status, chosen).excluded = true;
  });
  assert.notDeepEqual(second, [chosen]);
  const coordinating = (status: DatabaseStatus): void => {
    busy(status);
    for (const id of idsOf(world, "storage")) roles(status, id, "storage", "coordinator");
  };
  assert.deepEqual(first(coordinating), [stateless], "a recovery more, and no data at stake");
  const withoutTolerance = (status: DatabaseStatus): void => {
    assert.ok(status.cluster !== undefined);
    status.cluster.fault_tolerance = {
      max_zone_failures_without_losing_availability: 0,
      max_zone_failures_without_losing_data: 0,
    };
  };
  const weak = (status: DatabaseStatus): void => {
    busy(status);
    withoutTolerance(status);
  };
  assert.deepEqual(first(weak), [], "nobody can be missed, so nobody goes first, and all wait");
  assert.match(waitOf(world.restart(weak)), /^RestartHeld: .*prove the new command line alone/);
});

test("[T111] with a mode that can lose nobody all are restarted at once", () => {
  const databaseConfiguration = { redundancy_mode: "single" } as const;
  const world = new KnobWorld({ ...small, databaseConfiguration });
  world.changeKnob();
  const plan = world.restart((status) => {
    for (const processClass of ["stateless", "log", "storage"]) {
      for (const id of idsOf(world, processClass)) roles(status, id, processClass);
    }
    assert.ok(status.cluster !== undefined);
    status.cluster.fault_tolerance = {};
  });
  assert.equal(killed(plan)?.length, 8);
});

test("[T111] the only one that has to be restarted waits when it cannot be missed: it may have the last copy", () => {
  const world = new KnobWorld({ ...small, processCounts: { storage: 2, log: 3, stateless: 2 } });
  const [gone = "", last = ""] = idsOf(world, "storage");
  for (const id of [gone, last]) roles(world.old, id, "storage");
  const whole = structuredClone(world.old);
  away(world.old, gone);
  world.step();
  world.nowMs += 300_000;
  world.changeKnob(() => true, { storage: knob.general });
  const held = world.restart();
  assert.equal(killed(held), undefined);
  assert.match(
    waitOf(held),
    new RegExp(`^RestartHeld: .*${last}.* down: .*${gone} does not report`),
  );
  const wait = held.waits.find(({ step }) => step === "bounceProcesses");
  assert.match(wait?.remedy ?? "", /otherwise bring it back/);
  world.old = whole;
  assert.equal(killed(world.restart())?.length, 1);
});

test("[T111] one that leaves goes first only when all of them leave", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [usual = ""] = killed(world.restart()) ?? [];
  const leave = (ids: readonly string[]): void => {
    const { status } = world.cluster;
    const removalTimestamp = "2026-01-01T00:00:00Z";
    const processGroups = status?.processGroups?.map((group) =>
      ids.includes(group.processGroupID) ? { ...group, removalTimestamp } : group,
    );
    world.cluster = { ...world.cluster, status: { ...status, processGroups } };
  };
  leave([usual]);
  const [second = "", ...others] = killed(world.restart()) ?? [];
  assert.deepEqual(others, []);
  assert.notEqual(second, usual);
  leave([...idsOf(world, "stateless"), ...idsOf(world, "log"), ...idsOf(world, "storage")]);
  assert.deepEqual(killed(world.restart()), [usual], "as after another prefix");
});

test("[T111] among log processes alone one goes first, a coordinator only when all of them are", () => {
  const world = new KnobWorld();
  world.changeKnob(() => true, { log: { customParameters: ["knob_max_trace_lines=7"] } });
  const [log = ""] = idsOf(world, "log");
  const plan = world.restart((status) => {
    for (const id of idsOf(world, "log")) roles(status, id, "log");
  });
  assert.deepEqual(killed(plan), [log]);
});

test("[T111] while something is down a process group without data goes first, although it has a role", () => {
  const world = new KnobWorld();
  for (const id of idsOf(world, "stateless")) roles(world.old, id, "commit_proxy");
  for (const id of idsOf(world, "storage")) roles(world.old, id, "storage");
  away(world.old, idsOf(world, "storage")[0] ?? "");
  world.step();
  world.nowMs += 300_000;
  world.changeKnob();
  assert.deepEqual(killed(world.restart()), idsOf(world, "stateless").slice(0, 1));
});

test("[T110] the others wait until the first one has been running for ten seconds", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const young = world.restart((status) => world.prove(status, first, 9));
  assert.equal(killed(young), undefined);
  assert.match(waitOf(young), /^CanaryProving: /);
});

test("[T115] the others do not wait for the uptime of the first one, but for that of everybody else", () => {
  const world = new KnobWorld({ ...small, minimumUptimeSecondsForBounce: 100 });
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const after = (change: (status: DatabaseStatus) => void): Plan =>
    world.restart((status) => {
      world.prove(status, first, 10);
      change(status);
    });
  assert.equal(killed(after(() => {}))?.length, 7);
  const [log = ""] = idsOf(world, "log");
  const crashed = after((status) => {
    processOf(status, log).uptime_seconds = 50;
  });
  assert.match(waitOf(crashed), /^RestartHeld: /);
});

test("[T113] one that does not come back stops the others, and the wait names parameter, field and remedy", () => {
  const world = new KnobWorld();
  world.changeKnob();
  const [first = ""] = killed(world.restart()) ?? [];
  const gone = (): Plan => world.restart((status) => away(status, first));
  const store = (plan: Plan): void => {
    world.cluster = { ...world.cluster, status: plan.status };
    world.waits = plan.waits;
  };
  store(world.restart());
  world.nowMs += 5_000;
  const starting = gone();
  store(starting);
  assert.match(waitOf(starting), /^CanaryProving: /);
  world.nowMs += 121_000;
  const plan = gone();
  assert.equal(killed(plan), undefined);
  const wait = plan.waits.find(({ reason }) => reason === "CanaryFailed");
  assert.match(wait?.message ?? "", new RegExp(`${first} started with knob_max_trace_lines=100 `));
  assert.match(wait?.message ?? "", /\(spec\.processes\.general\.customParameters\)/);
  assert.match(wait?.remedy ?? "", new RegExp(`kubectl logs sample-${first} -c foundationdb`));
});

test("[T22] one that was away before the change does not prove anything", () => {
  const world = new KnobWorld();
  const [gone = ""] = idsOf(world, "storage");
  const [stateless = ""] = idsOf(world, "stateless");
  away(world.old, gone);
  roles(world.old, stateless);
  world.step();
  world.nowMs += 300_000;
  world.changeKnob();
  assert.deepEqual(killed(world.restart()), [stateless]);
  assert.equal(killed(world.restartOthers())?.length, 6);
});
