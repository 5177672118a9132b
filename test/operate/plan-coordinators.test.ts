// Step changeCoordinators on plain objects: who is chosen, when, and what is said while it waits.
import { Memory } from "../../src/env/memory.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { chooseCoordinators } from "../../src/plan/coordinators/choose-coordinators.ts";
import type { CoordinatorChoiceInput } from "../../src/plan/coordinators/choose-coordinators.ts";
import {
  coordinatorProblem,
  missingCoordinators,
  processesWithoutListener,
} from "../../src/plan/coordinators/coordinator-validity.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { PlanWorld } from "./plan-world.ts";

const double: Partial<ClusterSpec> = {
  processCounts: { storage: 3, log: 4, stateless: 1 },
  databaseConfiguration: { redundancy_mode: "double" },
};

function settled(spec: Partial<ClusterSpec> = double): PlanWorld {
  const world = new PlanWorld(spec);
  const plan = world.settle();
  assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
  return world;
}

type Change = (status: DatabaseStatus) => void;

function planWith(world: PlanWorld, change: Change, overrides: Partial<Snapshot> = {}): Plan {
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const status = structuredClone(seen.status);
  change(status);
  return world.plan({ database: { ...seen, status }, ...overrides });
}

function chosen(plan: Plan): string[] | undefined {
  const [change] = plan.actions.flatMap((action) =>
    action.type === "changeCoordinators" ? [action.addresses] : [],
  );
  return change && [...change];
}

function waitOf(plan: Plan): string {
  return plan.waits.find((wait) => wait.step === "changeCoordinators")?.message ?? "";
}

function coordinators(world: PlanWorld): string[] {
  return (world.cluster.status?.connectionString?.split("@")[1] ?? "").split(",");
}

/** The process that serves as the first coordinator. */
function firstCoordinator(status: DatabaseStatus, world: PlanWorld): string {
  const host = coordinators(world)[0]?.split(".")[0] ?? "";
  const key = Object.keys(status.cluster?.processes ?? {}).find((name) => name === host);
  assert.ok(key !== undefined);
  return key;
}

const lose =
  (world: PlanWorld): Change =>
  (status) => {
    delete status.cluster?.processes?.[firstCoordinator(status, world)];
    const [first] = status.client?.coordinators?.coordinators ?? [];
    if (first) first.reachable = false;
  };

const exclude =
  (world: PlanWorld): Change =>
  (status) => {
    const process = status.cluster?.processes?.[firstCoordinator(status, world)];
    if (process) process.excluded = true;
  };

const recovery =
  (fields: object): Change =>
  (status) => {
    Object.assign(status.cluster?.recovery_state ?? {}, fields);
  };

const both =
  (...changes: Change[]): Change =>
  (status) => {
    for (const change of changes) change(status);
  };

/** Since when statuses show coordinators as missing. */
function missingSince(world: PlanWorld, agoMs: number): Partial<Snapshot> {
  const sinceMs = world.nowMs - agoMs;
  return { missingCoordinators: new Map(coordinators(world).map((each) => [each, sinceMs])) };
}

test("[T9] fit coordinators are left alone", () => {
  const world = settled();
  const plan = world.plan();
  assert.equal(chosen(plan), undefined);
  assert.equal(waitOf(plan), "");
});

test("[T9] processes without host names keep coordinators known by address", () => {
  const world = settled({ ...double, routing: { useDNSInClusterFile: false } });
  world.cluster = {
    ...world.cluster,
    spec: { ...world.cluster.spec, routing: { useDNSInClusterFile: true } },
  };
  const plan = planWith(world, (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      delete process.locality?.["dns_name"];
    }
  });
  assert.equal(chosen(plan), undefined);
});

test("[T15] an excluded coordinator gives way, by host name and in one command", () => {
  const world = settled();
  const plan = planWith(world, exclude(world));
  const addresses = chosen(plan);
  assert.equal(addresses?.length, 3);
  assert.ok(!addresses?.includes(coordinators(world)[0] ?? ""));
  for (const address of addresses ?? []) {
    assert.match(address, /^sample-(log|storage)-\d+\.sample\.default\.svc\.cluster\.local:4501$/);
  }
  assert.ok(plan.events.some((event) => event.reason === "ChangingCoordinators"));
});

test("[T2] without host names in the cluster file coordinators change to addresses", () => {
  const world = settled({ ...double, routing: { defineDNSLocalityFields: true } });
  world.changeSpec({ routing: { useDNSInClusterFile: false, defineDNSLocalityFields: true } });
  const addresses = chosen(world.plan());
  assert.equal(addresses?.length, 3);
  for (const address of addresses ?? []) assert.match(address, /^10\.\d+\.\d+\.\d+:4501$/);
});

test("[T10] with host names a coordinator is not missing while its process reports that name", () => {
  const world = settled();
  const seen = world.database();
  assert.ok(seen.kind === "seen");
  const text = world.cluster.status?.connectionString ?? "";
  assert.deepEqual(missingCoordinators(world, seen.status, text), []);
  const status = structuredClone(seen.status);
  lose(world)(status);
  assert.deepEqual(missingCoordinators(world, status, text), [coordinators(world)[0]]);
});

test("[T11] a coordinator that is gone gets a minute to come back", () => {
  const world = settled();
  const early = planWith(world, lose(world));
  assert.equal(chosen(early), undefined);
  assert.match(waitOf(early), /No healthy process serves .* may come back within a minute/);
  const still = planWith(world, lose(world), missingSince(world, 59_000));
  assert.equal(chosen(still), undefined);
  const late = planWith(world, lose(world), missingSince(world, 60_000));
  assert.equal(chosen(late)?.length, 3);
});

test("[T11] the minute is that of the coordinator, not of another one", () => {
  const world = settled();
  const sinceMs = world.nowMs - 3_600_000;
  const fresh = planWith(world, lose(world));
  assert.equal(chosen(fresh), undefined);
  assert.match(waitOf(fresh), /may come back within a minute/);
  const another = new Map([[coordinators(world)[1] ?? "", sinceMs]]);
  const other = planWith(world, lose(world), { missingCoordinators: another });
  assert.equal(chosen(other), undefined, "one that came back");
});

const gates: [string, "missing" | "undesired", object, boolean][] = [
  ["long since the last recovery", "missing", {}, true],
  ["long since the last recovery", "undesired", {}, true],
  ["many generations", "missing", { active_generations: 12 }, true],
  ["many generations", "undesired", { active_generations: 12 }, false],
  ["an unfinished recovery", "missing", { name: "all_logs_recruited" }, true],
  ["an unfinished recovery", "undesired", { name: "all_logs_recruited" }, false],
  ["a recovery 10 s ago", "missing", { seconds_since_last_recovered: 10 }, false],
  ["a recovery 10 s ago", "undesired", { seconds_since_last_recovered: 10 }, false],
];

for (const [name, kind, fields, isChanged] of gates) {
  const rule = name.startsWith("a recovery") ? "[T12]" : kind === "missing" ? "[T11]" : "[T13]";
  test(`${rule} ${name}, a coordinator ${kind}: ${isChanged ? "changed" : "not changed"}`, () => {
    const world = settled();
    const cause = kind === "missing" ? lose(world) : exclude(world);
    const overrides = missingSince(world, 120_000);
    const plan = planWith(world, both(cause, recovery(fields)), overrides);
    assert.equal(chosen(plan) !== undefined, isChanged);
    if (!isChanged) assert.match(waitOf(plan), /generations|fully recovered|last recovery/);
  });
}

test("[T14] [E56] a move to TLS waits until every process listens so", () => {
  const world = settled({ ...double, routing: { useDNSInClusterFile: false } });
  world.changeSpec({ mainContainer: { enableTls: true } });
  const listenBoth: Change = (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      const line = process.command_line ?? "";
      process.command_line = line.replace(
        /--public_address=\[?([\d.]+)\]?:4501/,
        "--public_address=[$1]:4500:tls,[$1]:4501",
      );
    }
  };
  const lateListener: Change = (status) => {
    const [process] = Object.values(status.cluster?.processes ?? {});
    if (process === undefined) return;
    process.command_line = (process.command_line ?? "").replace(/\[[\d.]+\]:4500:tls,/, "");
  };
  const late = planWith(world, both(listenBoth, lateListener));
  assert.equal(chosen(late), undefined);
  assert.match(waitOf(late), /Not all processes have a TLS address yet/);
  assert.match(waitOf(late), /The coordinators are to be reached by TLS/);
  const told = late.waits.find(({ step }) => step === "changeCoordinators");
  assert.equal(told?.event?.reason, "DeferringCoordinatorChange");
  const leaving: Change = (status) => {
    const [process] = Object.values(status.cluster?.processes ?? {});
    if (process !== undefined) process.excluded = true;
  };
  const without = planWith(world, both(both(listenBoth, lateListener), leaving));
  assert.ok(chosen(without), "an excluded process is not waited for");
  const ready = planWith(world, listenBoth);
  for (const address of chosen(ready) ?? [""]) assert.match(address, /^10\..*:4500:tls$/);
});

test("[T19] a coordinator that is missing during a move to TLS is replaced by a plain one", () => {
  const world = settled({ ...double, routing: { useDNSInClusterFile: false } });
  world.changeSpec({ mainContainer: { enableTls: true } });
  const [lost = ""] = coordinators(world);
  const unreachable: Change = (status) => {
    const listed = status.client?.coordinators?.coordinators ?? [];
    for (const each of listed) if (each.address === lost) each.reachable = false;
    const processes = status.cluster?.processes ?? {};
    for (const [id, { address }] of Object.entries(processes)) {
      if (address === lost) delete processes[id];
    }
  };
  const early = planWith(world, unreachable);
  assert.equal(chosen(early), undefined, "it may come back");
  const plan = planWith(world, unreachable, missingSince(world, 120_000));
  const addresses = chosen(plan) ?? [];
  assert.equal(addresses.length, 3);
  assert.ok(!addresses.includes(lost));
  for (const address of addresses) assert.match(address, /:4501$/);
});

test("[T16] a change without enough fault domains says what is missing", () => {
  const world = settled({ ...double, processCounts: { storage: 3, log: 1, stateless: 1 } });
  const plan = planWith(world, (status) => {
    for (const process of Object.values(status.cluster?.processes ?? {})) {
      if (process.class_type === "storage" && process.locality) process.locality["zoneid"] = "one";
    }
  });
  assert.equal(chosen(plan), undefined);
  assert.match(
    waitOf(plan),
    /3 coordinators are wanted and only 2 can be found: 4 processes in 2 zones/,
  );
});

test("[T7] nothing changes while a command runs or on an old status", () => {
  const world = settled();
  const busy = planWith(world, exclude(world), { runningCommand: "exclude 10.0.0.1" });
  assert.equal(chosen(busy), undefined);
  assert.match(waitOf(busy), /The database is asked to exclude/);
  const old = planWith(world, exclude(world), { lastDatabaseWriteMs: world.nowMs });
  assert.match(waitOf(old), /older than the last change/);
});

/** A status of processes that differ only in what a choice looks at. */
function statusOf(
  processes: readonly Partial<StatusProcess & { id: string; zone: string }>[],
): DatabaseStatus {
  const entries = processes.map(
    ({ id = "", zone = id, ...rest }, index): [string, StatusProcess] => {
      const address = `10.0.0.${index + 1}:4501`;
      const process: StatusProcess = {
        address,
        class_type: "storage",
        command_line: `/usr/bin/fdbserver --public_address=${address}`,
        version: "7.3.63",
        excluded: false,
        locality: { instance_id: id, zoneid: zone },
        ...rest,
      };
      return [String(index), process];
    },
  );
  return { cluster: { processes: Object.fromEntries(entries) } };
}

function inputOf(
  status: DatabaseStatus,
  spec: Partial<ClusterSpec> = {},
  avoided: readonly string[] = [],
): CoordinatorChoiceInput {
  return {
    memory: new Memory(),
    spec: { version: "7.3.63", routing: { useDNSInClusterFile: false }, ...spec },
    configuration: { redundancy_mode: "double" },
    connectionString: "test:test@10.9.9.9:4501",
    status,
    avoided: new Set(avoided),
  };
}

const four = [{ id: "storage-1" }, { id: "storage-2" }, { id: "storage-3" }, { id: "storage-4" }];

const choices: [string, string, Parameters<typeof statusOf>[0], readonly string[], string][] = [
  ["[T1]", "all fit: the first by id", four, [], "1,2,3"],
  ["[T1]", "an excluded one", [{ ...four[0], excluded: true }, ...four.slice(1)], [], "2,3,4"],
  [
    "[T1]",
    "one under maintenance",
    [{ ...four[0], under_maintenance: true }, ...four.slice(1)],
    [],
    "2,3,4",
  ],
  ["[T1]", "one that leaves", four, ["storage-2"], "1,3,4"],
  [
    "[T1]",
    "one of a stateless class",
    [{ ...four[0], class_type: "stateless" }, ...four.slice(1)],
    [],
    "2,3,4",
  ],
  ["[T1]", "two in one zone", [{ ...four[0], zone: "storage-2" }, ...four.slice(1)], [], "1,3,4"],
  [
    "[T4]",
    "one of another version",
    [{ ...four[0], version: "7.3.60" }, ...four.slice(1)],
    [],
    "2,3,4",
  ],
  [
    "[T4]",
    "one that runs a copied binary",
    [
      { ...four[0], command_line: "/var/fdb/bin/fdbserver --public_address=10.0.0.1:4501" },
      ...four.slice(1),
    ],
    [],
    "2,3,4",
  ],
  [
    "[T2]",
    "one without an address",
    [{ ...four[0], command_line: "" }, ...four.slice(1)],
    [],
    "2,3,4",
  ],
];

for (const [rule, name, processes, avoided, expected] of choices) {
  test(`${rule} chosen coordinators: ${name}`, () => {
    const choice = chooseCoordinators(inputOf(statusOf(processes), {}, avoided));
    assert.ok(choice.ok, JSON.stringify(choice));
    const numbers = choice.addresses.map((address) => /10\.0\.0\.(\d+):/.exec(address)?.[1]);
    assert.equal(numbers.join(), expected);
  });
}

test("[T4] processes of another version serve when nothing else is left", () => {
  const old = four.slice(0, 3).map((process) => ({ ...process, version: "7.3.60" }));
  assert.ok(chooseCoordinators(inputOf(statusOf(old))).ok);
});

test("[T3] a process that the database cannot reach is not chosen", () => {
  const status = statusOf(four);
  const unreachable_processes = [{ address: "10.0.0.1:4501" }];
  status.cluster = {
    ...status.cluster,
    messages: [{ name: "unreachable_processes", unreachable_processes }],
  };
  const choice = chooseCoordinators(inputOf(status));
  assert.ok(choice.ok && !choice.addresses.includes("10.0.0.1:4501"));
});

test("[T2] [T18] names that pods do not know yet: a missing coordinator is replaced by an address", () => {
  const withName = (id: string, dns_name: string) => ({
    id,
    locality: { instance_id: id, zoneid: id, dns_name },
  });
  const status = statusOf([
    withName("storage-1", "$FDB_DNS_NAME"),
    withName("storage-2", "$FDB_DNS_NAME"),
    withName("storage-3", ""),
    withName("storage-4", "four.test"),
  ]);
  const input = inputOf(status, { routing: { useDNSInClusterFile: true } });
  const present = (addresses: string) => ({ ...input, connectionString: `test:test@${addresses}` });
  const calm = present("10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501");
  const choice = chooseCoordinators(calm);
  assert.match(
    choice.ok ? "" : choice.problem,
    /3 coordinators are wanted and only 1 can be found/,
  );
  const urgent = chooseCoordinators(present("10.0.0.1:4501,10.0.0.2:4501,10.9.9.9:4501"));
  assert.deepEqual(urgent.ok && urgent.addresses, [
    "10.0.0.1:4501",
    "10.0.0.2:4501",
    "four.test:4501",
  ]);
});

test("[T14] [T18] a move to TLS waits neither for names nor for who goes without an exclusion", () => {
  const status = statusOf(
    ["storage-1", "storage-2", "storage-3", "storage-4"].map((id) => ({
      id,
      locality: { instance_id: id, zoneid: id, dns_name: "$FDB_DNS_NAME" },
    })),
  );
  const processes = Object.values(status.cluster?.processes ?? {});
  for (const process of processes.slice(0, 3)) {
    const { address = "" } = process;
    const host = address.split(":")[0] ?? "";
    process.command_line = `fdbserver --public_address=${host}:4500:tls,${host}:4501`;
  }
  const spec = { mainContainer: { enableTls: true }, routing: { useDNSInClusterFile: true } };
  const input = inputOf(status, spec);
  assert.deepEqual(processesWithoutListener(input), ["storage-4"]);
  assert.deepEqual(processesWithoutListener({ ...input, abandoned: new Set(["storage-4"]) }), []);
  const present = processes.slice(0, 3).map(({ address }) => address);
  const choice = chooseCoordinators({ ...input, connectionString: `test:test@${present.join()}` });
  assert.ok(choice.ok, choice.ok ? "" : choice.problem);
  for (const address of choice.addresses) assert.match(address, /^10\..*:4500:tls$/);
});

test("[T5] [T6] a choice is always fit, whatever the processes, and the same each time", () => {
  const process = fc.record({
    id: fc.integer({ min: 1, max: 9 }).map((number) => `storage-${number}`),
    zone: fc.constantFrom("a", "b", "c", "d"),
    class_type: fc.constantFrom("storage", "log", "stateless", "test"),
    excluded: fc.boolean(),
    version: fc.constantFrom("7.3.63", "7.3.60"),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(process, { selector: ({ id }) => id, maxLength: 9 }),
      (processes) => {
        const input = inputOf(statusOf(processes));
        const choice = chooseCoordinators(input);
        const again = inputOf(structuredClone(input.status));
        assert.deepEqual(chooseCoordinators(again), choice);
        if (!choice.ok) return;
        const connectionString = `test:test@${choice.addresses.join(",")}`;
        assert.equal(coordinatorProblem({ ...input, connectionString }), undefined);
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});
