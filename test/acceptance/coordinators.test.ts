// Checklist: which processes become coordinators, and whether those that are should stay.
import { Memory } from "../../src/env/memory.ts";
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  coordinatorHardLimits,
  choiceRules,
  chooseDistributed,
} from "../../src/model/coordinator-choice.ts";
import type { Candidate, LocalityLimits } from "../../src/model/coordinator-choice.ts";
import type { DatabaseConfiguration } from "../../src/model/database-configuration.ts";
import type { StatusProcess } from "../../src/model/database-status.ts";
import { chooseCoordinators } from "../../src/plan/coordinators/choose-coordinators.ts";
import { coordinatorCandidates } from "../../src/plan/coordinators/coordinator-candidates.ts";
import { coordinatorProblem } from "../../src/plan/coordinators/coordinator-validity.ts";
import { item, table } from "./checklist-case.ts";

type Processes = Record<string, StatusProcess>;
type Change = (process: StatusProcess, id: string) => StatusProcess | undefined;
interface Given {
  spec?: Partial<ClusterSpec>;
  configuration?: DatabaseConfiguration;
  processes: Processes;
  avoided?: string[];
  coordinators?: string[];
}

function processOf(
  id: string,
  host: string,
  more: Partial<StatusProcess> = {},
  dc = "",
): StatusProcess {
  const processClass = id.split("-").at(-2) ?? "";
  const locality = {
    instance_id: id,
    zoneid: `zone-${id}`,
    ...(dc === "" ? {} : { dcid: dc }),
    ...more.locality,
  };
  return {
    address: `${host}:4501`,
    class_type: processClass,
    command_line: `/usr/bin/fdbserver --public_address=${host}:4501 --class=${processClass}`,
    version: "7.3.63",
    excluded: false,
    roles: [],
    ...more,
    locality,
  };
}

/** Storage and log processes, four of each, every one in a zone of its own. */
function flat(change: Change = (process) => process): Processes {
  const found: Processes = {};
  for (const [index, processClass] of ["storage", "log"].entries()) {
    for (let number = 1; number <= 4; number += 1) {
      const id = `${processClass}-${number}`;
      const process = change(processOf(id, `10.0.${index}.${number}`), id);
      if (process !== undefined) found[id] = process;
    }
  }
  return found;
}

function inCenters(ids: readonly string[], change: Change = (process) => process): Processes {
  const found: Processes = {};
  for (const [index, dc] of ids.entries()) {
    for (let number = 1; number <= 4; number += 1) {
      const id = `${dc}-log-${number}`;
      const process = change(processOf(id, `10.${index + 1}.0.${number}`, {}, dc), id);
      if (process !== undefined) found[id] = process;
    }
  }
  return found;
}

function inputOf(given: Given) {
  const {
    spec = {},
    configuration = { redundancy_mode: "double" },
    coordinators = ["10.0.1.1:4501"],
  } = given;
  return {
    memory: new Memory(),
    spec: { version: "7.3.63", routing: { useDNSInClusterFile: false }, ...spec } as ClusterSpec,
    configuration,
    connectionString: `a:b@${coordinators.join(",")}`,
    status: { cluster: { processes: given.processes } },
    avoided: new Set(given.avoided ?? []),
  };
}

function chosen(given: Given): readonly string[] {
  const choice = chooseCoordinators(inputOf(given));
  assert.ok(choice.ok, choice.ok ? "" : choice.problem);
  return choice.addresses;
}

const logs = ["10.0.1.1:4501", "10.0.1.2:4501", "10.0.1.3:4501"];
item("C04.1", () => assert.deepEqual(chosen({ processes: flat() }), logs));
item("C04.2", () => {
  const avoided = ["log-1"];
  const found = chosen({ processes: flat(), avoided });
  assert.deepEqual(found, ["10.0.1.2:4501", "10.0.1.3:4501", "10.0.1.4:4501"]);
});
item("C04.3", () => {
  const avoided = ["log-1", "log-2"];
  const found = chosen({ processes: flat(), avoided });
  assert.deepEqual(found, ["10.0.0.1:4501", "10.0.1.3:4501", "10.0.1.4:4501"]);
});
item("C04.4", () => {
  for (let run = 0; run < 100; run += 1) {
    const entries = Object.entries(flat());
    const rotated = [...entries.slice(run % 8), ...entries.slice(0, run % 8)];
    assert.deepEqual(chosen({ processes: Object.fromEntries(rotated) }), logs);
  }
});
item("C04.5", () => {
  const spec = { coordinatorSelection: [{ processClass: "storage", priority: 0 }] } as const;
  const found = chosen({ processes: flat(), spec });
  assert.deepEqual(found, ["10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501"]);
});
item("C04.6", () => {
  const processes = flat((process, id) =>
    id === "log-1" ? { ...process, under_maintenance: true } : process,
  );
  assert.ok(!chosen({ processes }).includes("10.0.1.1:4501"));
});

const regions = (ids: readonly string[]): DatabaseConfiguration => ({
  redundancy_mode: "double",
  usable_regions: 2,
  regions: [
    {
      datacenters: [
        { id: ids[0], priority: 1 },
        { id: ids[2], satellite: 1, priority: 1 },
      ],
    },
    {
      datacenters: [
        { id: ids[1], priority: 0 },
        { id: ids[3] ?? ids[2], satellite: 1, priority: 1 },
      ],
    },
  ],
});
const three = ["p", "r", "s"];
const four = ["p", "r", "s", "t"];
const perCenter = (addresses: readonly string[]): number[] => {
  const counts = new Map<string, number>();
  for (const address of addresses) {
    const center = address.split(".")[1] ?? "";
    counts.set(center, (counts.get(center) ?? 0) + 1);
  }
  return [...counts.values()].sort();
};
item("C04.7", () => {
  const found = chosen({ processes: inCenters(three), configuration: regions(three) });
  assert.deepEqual(perCenter(found), [3, 3, 3]);
  const wider = chosen({ processes: inCenters(four), configuration: regions(four) });
  assert.deepEqual(perCenter(wider), [2, 2, 2, 3]);
});
item("C04.8", () => {
  const processes = inCenters(three, (process, id) =>
    id === "p-log-1" ? { ...process, excluded: true } : process,
  );
  const found = chosen({ processes, configuration: regions(three) });
  assert.ok(!found.includes("10.1.0.1:4501"));
  assert.equal(found.length, 9);
});
item("C04.9", () => {
  const avoided = ["p-log-1"];
  const found = chosen({ processes: inCenters(three), configuration: regions(three), avoided });
  assert.ok(!found.includes("10.1.0.1:4501"));
});
item("C04.10", () => {
  const processes = inCenters(["p", "s"]);
  const choice = chooseCoordinators(inputOf({ processes, configuration: regions(three) }));
  assert.ok(!choice.ok && choice.problem.includes("9 coordinators are wanted and only 6"));
});
item("C04.11", () => {
  const processes = inCenters(["p", "s", "t"]);
  const found = chosen({ processes, configuration: regions(four) });
  assert.deepEqual(perCenter(found), [3, 3, 3]);
});
item("C04.12", () => {
  const first = chosen({ processes: inCenters(three), configuration: regions(three) });
  const reversed = Object.fromEntries(Object.entries(inCenters(three)).toReversed());
  assert.deepEqual(chosen({ processes: reversed, configuration: regions(three) }), first);
});
const halls = { redundancy_mode: "three_data_hall" };
const inHalls = (): Processes =>
  inCenters(three, (process, id) => ({
    ...process,
    locality: { ...process.locality, data_hall: id.slice(0, 1) },
  }));
item("C04.13", () => {
  assert.deepEqual(perCenter(chosen({ processes: inHalls(), configuration: halls })), [3, 3, 3]);
});
item("C04.14", () => {
  const avoided = ["p-log-2"];
  const found = chosen({ processes: inHalls(), configuration: halls, avoided });
  assert.deepEqual(perCenter(found), [3, 3, 3]);
  assert.ok(!found.includes("10.1.0.2:4501"));
});
const rank = (given: Given, id: string): number => {
  const candidate = coordinatorCandidates(inputOf(given)).find((each) => each.id === id);
  assert.ok(candidate);
  return candidate.priority ?? 0;
};
item("C04.15", () => {
  const processes = flat((process, id) =>
    id === "log-1" ? { ...process, version: "7.3.50" } : process,
  );
  assert.ok(rank({ processes }, "log-1") < rank({ processes }, "storage-1"));
});
item("C04.16", () => {
  const spec = {
    coordinatorSelection: [
      { processClass: "storage", priority: 9 },
      { processClass: "log", priority: 3 },
    ],
  } as const;
  const processes = flat();
  assert.deepEqual(
    [rank({ processes, spec }, "storage-1"), rank({ processes, spec }, "log-1")],
    [9, 3],
  );
});
item("C04.17", () => {
  const processes = flat((process, id) =>
    id === "log-1"
      ? {
          ...process,
          command_line: process.command_line?.replace("/usr/bin", "/var/fdb/shared-binaries") ?? "",
        }
      : process,
  );
  assert.ok(rank({ processes }, "log-1") < rank({ processes }, "storage-1"));
});
item("C04.18", () => {
  const found = coordinatorCandidates(inputOf({ processes: flat(), avoided: ["log-3"] }));
  assert.ok(!found.some((each) => each.id === "log-3"));
});

const candidates = (zones: number, centers: readonly string[] = [""], priority = 0): Candidate[] =>
  centers.flatMap((dcid) =>
    Array.from({ length: 8 }, (_, index) => ({
      id: `${dcid}-log-${index + 1}`,
      priority,
      localities: { zoneid: `${dcid}${index % zones}`, dcid },
    })),
  );
const choose = (
  list: readonly Candidate[],
  count: number,
  limits: LocalityLimits,
  configuration: DatabaseConfiguration = {},
) => chooseDistributed(list, choiceRules(configuration, count, limits));
const single = { regions: [{ datacenters: [{ id: "b", priority: 1 }] }] };
item("C07.1", () => {
  const { chosen: found } = choose(candidates(8), 3, {});
  assert.deepEqual(
    found.map((each) => each.id),
    ["-log-1", "-log-2", "-log-3"],
  );
});
item("C07.2", () => {
  const { chosen: found } = choose(candidates(8, ["a", "b"]), 2, {}, single);
  assert.deepEqual(
    found.map((each) => each.id),
    ["b-log-1", "a-log-1"],
  );
});
item("C07.3", () => {
  const list = [...candidates(8), { id: "storage-1", priority: 5, localities: { zoneid: "z" } }];
  assert.equal(choose(list, 1, {}).chosen[0]?.id, "storage-1");
});
item("C07.4", () => {
  const { chosen: found } = choose(candidates(8), 5, { zoneid: 1 });
  assert.equal(new Set(found.map((each) => each.localities.zoneid)).size, 5);
});
item("C07.5", () => {
  const { chosen: found, missing } = choose(candidates(3), 5, {});
  assert.deepEqual([found.length, missing], [5, 0]);
});
item("C07.6", () => {
  const { chosen: found, missing } = choose(candidates(3), 5, { zoneid: 1 });
  assert.deepEqual([found.length, missing], [3, 2]);
});
const spread = (found: readonly Candidate[]): number[] => {
  const counts = new Map<string, number>();
  for (const each of found)
    counts.set(each.localities.dcid ?? "", (counts.get(each.localities.dcid ?? "") ?? 0) + 1);
  return [...counts.values()].sort();
};
item("C07.7", () => {
  const { chosen: found } = choose(candidates(8, three), 9, { zoneid: 1, dcid: 3 });
  assert.deepEqual(spread(found), [3, 3, 3]);
});
item("C07.8", () => {
  const { chosen: found } = choose(candidates(1, three), 6, { dcid: 2 });
  assert.deepEqual(spread(found), [2, 2, 2]);
});
item("C07.9", () => {
  const { chosen: found } = choose(candidates(8, four), 9, { zoneid: 1, dcid: 3 }, regions(four));
  assert.deepEqual(spread(found), [2, 2, 2, 3]);
});
item("C07.10", () => {
  const storage = four.map((dcid) => ({
    id: `${dcid}-storage-1`,
    priority: 9,
    localities: { zoneid: `${dcid}s`, dcid },
  }));
  const list = [...candidates(8, four), ...storage];
  const { chosen: found } = choose(list, 9, { zoneid: 1, dcid: 3 }, regions(four));
  for (const { id } of storage)
    assert.ok(
      found.some((each) => each.id === id),
      id,
    );
});
item("C07.11", () => assert.deepEqual(coordinatorHardLimits({}), { zoneid: 1 }));
item("C07.12", () =>
  assert.deepEqual(coordinatorHardLimits(regions(four)), { zoneid: 1, dcid: 3 }),
);
item("C07.13", () =>
  assert.deepEqual(coordinatorHardLimits(regions(three)), { zoneid: 1, dcid: 3 }),
);
item("C07.14", () => assert.deepEqual(coordinatorHardLimits(halls), { zoneid: 1, data_hall: 3 }));

const tlsLine = (process: StatusProcess, host: string): StatusProcess => ({
  ...process,
  address: `${host}:4500:tls`,
  command_line: `fdbserver --public_address=${host}:4500:tls --class=log`,
});
item("C07.15", () => {
  const processes = flat((process, id) =>
    id === "log-1" ? tlsLine(process, "10.0.1.1") : process,
  );
  const spec = { mainContainer: { enableTls: true } };
  const found = coordinatorCandidates(inputOf({ processes, spec }));
  assert.deepEqual(
    found.map((each) => each.address),
    ["10.0.1.1:4500:tls"],
  );
});
item("C07.16", () => {
  const found = coordinatorCandidates(inputOf({ processes: flat() }));
  assert.equal(found.find((each) => each.id === "log-1")?.address, "10.0.1.1:4501");
});
item("C07.17", () => {
  const processes = flat((process, id) =>
    id === "log-1" ? { ...process, command_line: "fdbserver" } : process,
  );
  assert.ok(!coordinatorCandidates(inputOf({ processes })).some((each) => each.id === "log-1"));
});

const edit =
  (id: string, more: Partial<StatusProcess>): Change =>
  (process, each) =>
    each === id ? { ...process, ...more } : process;
const problem = (given: Partial<Given>): string =>
  coordinatorProblem(inputOf({ processes: flat(), coordinators: logs, ...given })) ?? "";
const dns = (process: StatusProcess, id: string): StatusProcess => ({
  ...process,
  locality: { ...process.locality, dns_name: `${id}.svc` },
});
const named = ["log-1.svc:4501", "log-2.svc:4501", "log-3.svc:4501"];
const centers = (count: number): Processes => inCenters(three.slice(0, count));
const nine = (count: number): string[] =>
  Array.from(
    { length: 9 },
    (_, index) => `10.${(index % count) + 1}.0.${Math.floor(index / count) + 1}:4501`,
  );

table(
  {
    "C08.1": [{}, ""],
    "C08.2": [{ processes: {} }, "No healthy process"],
    "C08.3": [{ spec: { coordinatorSelection: [{ processClass: "storage" }] } }, "may not be one"],
    "C08.4": [{ processes: flat(edit("log-1", { excluded: true })) }, "No healthy process"],
    "C08.5": [
      { processes: flat(edit("log-1", { address: "", command_line: "" })) },
      "No healthy process",
    ],
    "C08.6": [{ spec: { mainContainer: { enableTls: true } } }, "to be reached by TLS"],
    "C08.7": [
      { processes: flat(edit("log-1", { command_line: "fdbserver" })) },
      "No healthy process",
    ],
    "C08.8": [
      { processes: flat(edit("log-1", { locality: undefined as never })) },
      "No healthy process",
    ],
    "C08.9": [
      { processes: { ...flat(), t: processOf("test-1", "10.9.9.9", { command_line: "" }) } },
      "",
    ],
    "C08.10": [{ coordinators: logs.slice(0, 2) }, "in 2 zones and should be in 3"],
    "C08.11": [
      {
        processes: flat((process) => ({
          ...process,
          locality: { ...process.locality, zoneid: "same" },
        })),
      },
      "in 1 zone and should be in 3",
    ],
    "C08.12": [{ processes: centers(3), configuration: regions(three), coordinators: nine(3) }, ""],
    "C08.13": [
      {
        processes: inCenters(["p", "r"], (process, id) => process && { ...process, address: id }),
        configuration: regions(three),
        coordinators: nine(2).slice(0, 8),
      },
      "should be in 9",
    ],
    "C08.14": [
      {
        processes: flat((process, id) =>
          id.startsWith("log") ? tlsLine(process, `10.0.1.${id.slice(-1)}`) : process,
        ),
        spec: { mainContainer: { enableTls: true } },
        coordinators: logs.map((text) => text.replace("4501", "4500:tls")),
      },
      "",
    ],
    "C08.15": [
      {
        spec: { mainContainer: { enableTls: false } },
        coordinators: logs.map((text) => `${text}:tls`),
      },
      "No healthy process",
    ],
    "C08.16": [{ spec: { routing: { useDNSInClusterFile: true } } }, ""],
    "C08.17": [
      { processes: flat(dns), spec: { routing: { useDNSInClusterFile: true } } },
      "should be known by its host name",
    ],
    "C08.18": [
      {
        processes: flat(dns),
        spec: { routing: { useDNSInClusterFile: true } },
        coordinators: named,
      },
      "",
    ],
    "C08.19": [{ processes: flat(dns), coordinators: named }, "should be known by its IP address"],
  } satisfies Record<string, [Partial<Given>, string]>,
  (given: Partial<Given>, expected: string) => {
    const found = problem(given);
    assert.ok(expected === "" ? found === "" : found.includes(expected), found);
  },
);
