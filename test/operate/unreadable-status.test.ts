// Statuses that are damaged at random places: what is left of them is typed as the model says, no plan fails on them, and
// nothing disruptive rests on them. Rules: spec/real-database.md [DB39], spec/safety.md [S141], [S142].
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { DatabaseStatus, StatusMessage } from "../../src/model/database-status.ts";
import { shapedStatus } from "../../src/model/status-shape.ts";
import { stillHolding } from "../../src/fdb/client/drained.ts";
import { trimStatus } from "../../src/fdb/client/trim-status.ts";
import { isDisruptive } from "../../src/plan/action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { StatusMemory } from "../../src/operate/status-memory.ts";
import { removalProblem } from "../../src/plan/safety/certificate.ts";
import {
  emptySampleProcess,
  sampleDatabase,
  sampleGroup,
  sampleNowMs,
  viewOf,
} from "../fixtures/sample-view.ts";
import { emptied, RemovalWorld, storages } from "./removal-world.ts";

const folder = join(import.meta.dirname, "../data/fdb/status");
const captures = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as DatabaseStatus,
);

/** Where to, level by level, and what to put there; undefined takes the place away. */
interface Damage {
  way: readonly number[];
  junk: unknown;
}

const junk = fc.constantFrom<unknown[]>(
  ...[undefined, null, 0, -1.5, "", "junk", true, [], [null], ["junk", 5], {}],
  { name: 5, role: null, address: {}, deep: { roles: [[]] } },
);
const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({ way: fc.array(fc.nat(1000), { minLength: 1, maxLength: 7 }), junk }),
  { minLength: 1, maxLength: 4 },
);

function damaged(status: unknown, all: readonly Damage[]): unknown {
  const copy: unknown = structuredClone(status);
  for (const { way, junk: value } of all) put(copy, way, value);
  return copy;
}

function put(target: unknown, [step = 0, ...rest]: readonly number[], value: unknown): void {
  if (typeof target !== "object" || target === null) return;
  const keys = Object.keys(target);
  const key = keys[step % keys.length];
  if (key === undefined) return;
  const next: unknown = Reflect.get(target, key);
  if (rest.length > 0 && typeof next === "object" && next !== null) return put(next, rest, value);
  if (value === undefined && Array.isArray(target)) target.splice(Number(key), 1);
  else if (value === undefined) Reflect.deleteProperty(target, key);
  else Reflect.set(target, key, structuredClone(value));
}

const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
const isFigure = (value: unknown): boolean => value === undefined || typeof value === "number";
const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
const areNamed = (messages: readonly StatusMessage[] = []): boolean =>
  messages.every(({ name }) => typeof name === "string");

/** What readers rely on, told apart from the check itself. */
function assertTyped({ client, cluster }: DatabaseStatus): void {
  assert.ok(isFlag(client?.database_status?.available) && areNamed(client?.messages));
  for (const { address, reachable } of client?.coordinators?.coordinators ?? []) {
    assert.ok(typeof address === "string" && isFlag(reachable));
  }
  assert.ok(areNamed(cluster?.messages) && isText(cluster?.connection_string));
  assert.ok(isText(cluster?.recovery_state?.name) && isText(cluster?.maintenance_zone));
  for (const process of Object.values(cluster?.processes ?? {})) {
    const { address, excluded, locality, messages, roles, uptime_seconds: uptime } = process;
    assert.ok(isText(address) && isFlag(excluded) && isFigure(uptime) && areNamed(messages));
    assert.ok(
      isText(process.version) && isText(process.command_line) && isText(process.class_type),
    );
    assert.ok(Object.values(locality ?? {}).every((value) => typeof value === "string"));
    assert.ok((roles ?? []).every(({ role }) => typeof role === "string"));
  }
  for (const { address, locality } of cluster?.configuration?.excluded_servers ?? []) {
    assert.ok(isText(address) && isText(locality));
  }
  for (const { log_interfaces: logs = [] } of cluster?.logs ?? []) {
    assert.ok(logs.every(({ address }) => isText(address)));
  }
}

const options = { seed: 1, numRuns: 1_000 };

test("[DB39] whatever a status looks like, what is left of it is typed", () => {
  let drops = 0;
  fc.assert(
    fc.property(fc.nat(), damages, (number, all) => {
      const shaped = shapedStatus(trimStatus(damaged(captures[number % captures.length], all)));
      if ("problem" in shaped) return;
      drops += shaped.status.unreadable === undefined ? 0 : 1;
      assertTyped(shaped.status);
      assert.deepEqual(shapedStatus(shaped.status), shaped);
    }),
    options,
  );
  assert.ok(drops > options.numRuns / 5, `${drops} with dropped parts`);
});

test("[DB33] a status of which parts were dropped never says that an excluded process is empty", () => {
  const capture = captures.find((each) => stillHolding([storage], [], each) === undefined);
  assert.ok(capture);
  fc.assert(
    fc.property(damages, (all) => {
      const shaped = shapedStatus(trimStatus(damaged(capture, all)));
      if ("problem" in shaped || shaped.status.unreadable === undefined) return;
      assert.notEqual(stillHolding([storage], [], shaped.status), undefined);
    }),
    options,
  );
});

const storage = "127.0.0.1:4501";

test("[S142] no plan fails on a damaged status, and nothing disruptive rests on it (long)", () => {
  const worlds = [
    RemovalWorld.settled(),
    RemovalWorld.settled({ databaseConfiguration: { redundancy_mode: "triple" } }),
    emptied(storages(1)).world,
  ];
  assert.ok(worlds.some((world) => world.plan().actions.some(isDisruptive)));
  fc.assert(
    fc.property(fc.nat(), damages, (number, all) => {
      const world: RemovalWorld | undefined = worlds[number % worlds.length];
      assert.ok(world);
      const seen = world.database();
      assert.ok(seen.kind === "seen");
      for (const base of [seen.status, captures[number % captures.length]]) {
        const shaped = shapedStatus(damaged(base, all));
        if ("problem" in shaped) continue;
        const { status } = shaped;
        const database = { ...seen, status };
        const memory = new StatusMemory(new VirtualClock(), 120_000);
        memory.note({ ...database, observedMs: seen.observedMs - 5_000 }, world.snapshot());
        memory.note(database, world.snapshot());
        const { statuses, histories, missingCoordinators } = memory;
        const remembered = { statuses, histories, missingCoordinators };
        const plan: Plan = world.plan({ database, ...remembered });
        if (status.unreadable === undefined) continue;
        assert.deepEqual(plan.actions.filter(isDisruptive), []);
        assert.ok(!plan.isReconciled);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[S141] a status of which parts were dropped never certifies a removal", () => {
  const sample = sampleDatabase();
  emptySampleProcess(sample, "storage-1");
  const group = sampleGroup(sample, "storage-1");
  assert.equal(removalProblem(viewOf(sample), group), undefined);
  let drops = 0;
  fc.assert(
    fc.property(damages, fc.boolean(), (all, isOlder) => {
      const shaped = shapedStatus(damaged(sample.status, all));
      if ("problem" in shaped || shaped.status.unreadable === undefined) return;
      drops += 1;
      const { status } = shaped;
      const whole = { status: sample.status, observedMs: sampleNowMs - 1_000 };
      const partial = { status, observedMs: sampleNowMs - 3_000 };
      const view = isOlder
        ? viewOf(sample, { statuses: [whole, partial] })
        : viewOf({ ...sample, status });
      assert.notEqual(removalProblem(view, group), undefined);
    }),
    options,
  );
  assert.ok(drops > options.numRuns / 5, `${drops} with dropped parts`);
});

test("[S141] a process whose roles were dropped is not taken for one without roles", () => {
  const sample = sampleDatabase();
  emptySampleProcess(sample, "storage-1");
  const status = structuredClone(sample.status) as {
    cluster: { processes: Record<string, object> };
  };
  Reflect.set(status.cluster.processes["storage-1"] ?? {}, "roles", [{ role: 7 }]);
  const shaped = shapedStatus(status);
  assert.ok("status" in shaped);
  const view = viewOf({ ...sample, status: shaped.status });
  assert.match(
    removalProblem(view, sampleGroup(sample, "storage-1")) ?? "",
    /shape that this operator does not know: cluster\.processes\.storage-1\.roles/,
  );
});
