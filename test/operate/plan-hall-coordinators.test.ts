// How many coordinators a database over halls should have, and what a status must show before such a mode is set.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import { coordinatorHardLimits } from "../../src/model/coordinator-choice.ts";
import { choiceOf } from "../../src/plan/coordinators/change-coordinators.ts";
import { chooseCoordinators } from "../../src/plan/coordinators/choose-coordinators.ts";
import { coordinatorProblem } from "../../src/plan/coordinators/coordinator-validity.ts";
import {
  coordinatorInput,
  isPlacementSettled,
} from "../../src/plan/coordinators/coordinator-wish.ts";
import { zoneProblems } from "../../src/plan/safety/exclusion-zones.ts";
import { hallsProblem } from "../../src/plan/safety/hall-readiness.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { groupsIn, hallScene, hallSpec, nodesIn, zoneLabel } from "./hall-scene.ts";

/** Storage and logs with so many zones in each hall; ids are class, hall and zone. */
function statusWith(
  halls: Readonly<Record<string, number>>,
  mode: string,
  locality = "data_hall",
): DatabaseStatus {
  const processes: Record<string, StatusProcess> = {};
  for (const [hall, zones] of Object.entries(halls)) {
    for (let zone = 1; zone <= zones; zone += 1) {
      for (const class_type of ["storage", "log"]) {
        const id = `${class_type}-${hall}-${zone}`;
        processes[id] = {
          class_type,
          locality: { instance_id: id, [locality]: hall, zoneid: `${hall}-${zone}` },
        };
      }
    }
  }
  return { cluster: { processes, configuration: { redundancy_mode: mode } } };
}

const even = { az1: 3, az2: 3, az3: 3 };

function wish(
  spec: Partial<ClusterSpec>,
  groups: readonly ProcessGroupStatus[],
  status: DatabaseStatus,
  more: Partial<Snapshot> = {},
) {
  const { snapshot, draft } = hallScene(spec, groups, more);
  const input = coordinatorInput(snapshot, draft, status);
  return { count: input.wish?.count, ...input.wish?.hardLimits };
}

const nine = { count: 9, zoneid: 1, data_hall: 3 };
const five = { count: 5, zoneid: 1, data_hall: 2 };

test("[HALL15] nine over three zones per hall, five over two", () => {
  const status = statusWith(even, "three_data_hall");
  const groups = groupsIn("log", even);
  assert.deepEqual(wish(hallSpec(), groups, status), nine);
  const six = nodesIn("az1", "az2", "az3", "az1", "az2", "az3");
  const inTwo = groups.map((group) => ({ ...group, faultDomain: "" }));
  assert.deepEqual(wish(hallSpec(), inTwo, status, { placementNodes: six }), five);
  // More nodes than process groups offer nothing to a coordinator.
  assert.deepEqual(wish(hallSpec(), groupsIn("log", { az1: 2, az2: 2, az3: 2 }), status), five);
});

test("[HALL15] regions: at most ceil(9 / datacenters) in a datacenter", () => {
  const regions = (count: number) => [
    { datacenters: Array.from({ length: count }, (_, index) => ({ id: `dc${index}` })) },
  ];
  const limit = (count: number) =>
    coordinatorHardLimits({ usable_regions: 2, regions: regions(count) })["dcid"];
  assert.deepEqual([2, 3, 4, 5].map(limit), [5, 3, 3, 2]);
});

test("[HALL16] an outage does not make the set smaller: nodes that are gone, processes that are gone", () => {
  const groups = groupsIn("log", even);
  const lost = statusWith({ az1: 3, az2: 2 }, "three_data_hall_fallback");
  assert.deepEqual(wish(hallSpec(), groups, lost), nine);
  const left = nodesIn("az1", "az2", "az1", "az2", "az1", "az2");
  const known = groups.map((group, index) => ({ ...group, faultDomain: `zone-${index}` }));
  assert.deepEqual(wish(hallSpec(), known, lost, { placementNodes: left }), nine);
});

test("[HALL40] halls of other resources count, also where the own one comes from a label of the node", () => {
  const own = groupsIn("log", { az1: 3 });
  const more = { placementNodes: nodesIn("az1", "az1", "az1") };
  const cases: [halls: Record<string, number>, wish: typeof nine][] = [
    [even, nine],
    [{ az1: 3 }, nine],
    [{ az2: 3, az3: 3 }, nine],
    [{ az1: 3, az2: 2, az3: 3 }, five],
  ];
  for (const [halls, wanted] of cases) {
    assert.deepEqual(wish(hallSpec(), own, statusWith(halls, "three_data_hall"), more), wanted);
  }
});

test("[HALL36] a process group that is to go counts for no zone of its own", () => {
  const status = statusWith(even, "three_data_hall");
  const groups = groupsIn("log", { az1: 4, az2: 4, az3: 4 });
  const nodes = nodesIn("az1", "az2", "az3", "az1", "az2", "az3", "az2", "az3");
  const placed = groups.map((group, index) => {
    // Those of hall az1 stand on its two nodes, but one: the node that it stood on is gone.
    if (group.hall !== "az1") return group;
    return { ...group, faultDomain: ["node-0", "node-3", "node-0", "lost"][index] ?? "" };
  });
  const more = { placementNodes: nodes };
  assert.deepEqual(wish(hallSpec(), placed, status, more), nine, "it may come back");
  const leaving = placed.map((group) =>
    group.faultDomain === "lost" ? { ...group, removalTimestamp: "2026-01-01T00:00:00Z" } : group,
  );
  assert.deepEqual(wish(hallSpec(), leaving, status, more), five);
  const unknown = { placementNodes: undefined };
  const spec = hallSpec({
    localities: [{ key: "data_hall", topologyKey: zoneLabel, values: ["az1", "az2", "az3"] }],
  });
  assert.deepEqual(wish(spec, leaving, status, unknown), nine, "nobody knows of the node");
});

/** A log for each zone in the list of a hall; two of the first halls and one of the last are the coordinators. */
function crowded(
  zones: Readonly<Record<string, readonly string[]>>,
  leaving: readonly string[] = [],
) {
  const places = Object.entries(zones).flatMap(([hall, names]) =>
    names.map((zone) => ({ hall, zone })),
  );
  const processes: Record<string, StatusProcess> = {};
  const groups = places.map(({ hall, zone }, index): ProcessGroupStatus => {
    const [id, address] = [`log-${index}`, `10.0.0.${index + 1}:4501`];
    const locality = { instance_id: id, data_hall: hall, zoneid: zone, dns_name: `${id}.test` };
    const command_line = `fdbserver --public_address=${address}`;
    processes[id] = { class_type: "log", address, command_line, locality };
    return { processGroupID: id, processClass: "log", hall, faultDomain: zone };
  });
  const status = {
    cluster: { processes, configuration: { redundancy_mode: "three_data_hall" as const } },
  };
  const coordinators = ["az1", "az2", "az3"].flatMap((hall) =>
    places
      .flatMap((place, index) => (place.hall === hall ? `log-${index}.test:4501` : []))
      .slice(0, hall === "az3" ? 1 : 2),
  );
  const marked = groups.map((group) =>
    leaving.includes(group.processGroupID)
      ? { ...group, removalTimestamp: "2026-01-01T00:00:00Z" }
      : group,
  );
  const scene = hallScene(hallSpec(), marked);
  const draft = {
    ...scene.draft,
    status: { ...scene.draft.status, connectionString: `a:b@${coordinators.join()}` },
  };
  const input = coordinatorInput(scene.snapshot, draft, status);
  return { input, draft, snapshot: scene.snapshot, status };
}

const [hallTwo, hallThree] = [
  ["d", "e", "f"],
  ["g", "h", "i"],
] as const;

test("[HALL35] five stay while nine cannot be found, and become nine when they can", () => {
  const few = crowded({ az1: ["a", "b", "a", "b"], az2: hallTwo, az3: hallThree });
  assert.equal(few.input.wish?.count, 5);
  assert.equal(coordinatorProblem(few.input), undefined);
  const enough = crowded({ az1: ["a", "b", "a", "c"], az2: hallTwo, az3: hallThree });
  assert.equal(enough.input.wish?.count, 9);
  assert.match(coordinatorProblem(enough.input) ?? "", /in 5 zones and should be in 9/);
  const early = crowded({ az1: ["a", "b", "a", "c"], az2: hallTwo, az3: hallThree }, ["log-2"]);
  assert.equal(early.input.wish?.count, 5, "somebody is still to be excluded");
});

test("[HALL35] five are chosen only when somebody must leave and nothing else can come", () => {
  const { input, draft, snapshot, status } = crowded({
    az1: ["a", "b", "a", "b"],
    az2: hallTwo,
    az3: hallThree,
  });
  const nineNow = { ...input, wish: { count: 9, hardLimits: { zoneid: 1, data_hall: 3 } } };
  assert.equal(chooseCoordinators(nineNow).ok, false);
  const pressed = chooseCoordinators({ ...nineNow, isPressed: true });
  assert.equal(pressed.ok && pressed.addresses.length, 5);
  assert.equal(isPlacementSettled(snapshot, draft, status), true);
  const { "log-3": _late, ...reporting } = status.cluster.processes;
  const without = { cluster: { ...status.cluster, processes: reporting } };
  assert.equal(isPlacementSettled(snapshot, draft, without), false, "log-3 has not come up");
});

test("[HALL35] five are chosen in place of nine of which one is gone, when nothing else can come", () => {
  const zones = { az1: ["a", "b", "a", "b"], az2: hallTwo, az3: hallThree };
  const { input } = crowded(zones);
  const wanted = { count: 9, hardLimits: { zoneid: 1, data_hall: 3 } };
  const ids = Object.keys(input.status.cluster?.processes ?? {}).slice(1, 9);
  const present = ids.map((id) => `${id}.test:4501`);
  const asked = { ...input, wish: wanted, isSettled: true };
  const lost = { ...asked, connectionString: `a:b@${[...present, "10.9.9.9:4501"].join()}` };
  const choice = choiceOf(lost);
  assert.equal(choice.ok && choice.addresses.length, 5);
  assert.equal(choiceOf({ ...lost, isSettled: false }).ok, false, "somebody has not come up");
  const whole = { ...asked, connectionString: `a:b@${[...present, "log-0.test:4501"].join()}` };
  assert.equal(choiceOf(whole).ok, false, "nobody is gone");
});

test("[HALL37] nine that came to share a zone stay while no nine zones can be found", () => {
  const problem = (
    zones: Readonly<Record<string, readonly string[]>>,
    { isSettled = true, spare = "" } = {},
  ) => {
    const { input } = crowded(zones);
    const ids = Object.keys(input.status.cluster?.processes ?? {}).filter((id) => id !== spare);
    const connectionString = `a:b@${ids.map((id) => `${id}.test:4501`).join()}`;
    const wanted = { count: 9, hardLimits: { zoneid: 1, data_hall: 3 } };
    return coordinatorProblem({ ...input, connectionString, wish: wanted, isSettled });
  };
  const shared = { az1: ["a", "b", "a"], az2: hallTwo, az3: hallThree };
  assert.equal(problem(shared), undefined);
  assert.match(problem(shared, { isSettled: false }) ?? "", /in 8 zones and should be in 9/);
  const better = { ...shared, az1: ["a", "b", "a", "c"] };
  assert.match(problem(better, { spare: "log-3" }) ?? "", /in 8 zones and should be in 9/);
  const uneven = { az1: ["a", "b", "a", "b"], az2: ["d", "e"], az3: hallThree };
  assert.match(problem(uneven) ?? "", /4 coordinators share data_hall az1; at most 3 may/);
});

test("[HALL38] over regions two may share a zone when somebody must leave and no nine zones can be found", () => {
  const datacenters = ["az1", "az2", "az3"].map((id) => ({ id, priority: 1 }));
  const configuration = {
    ...{ redundancy_mode: "double" as const, usable_regions: 2 },
    regions: datacenters.map((each) => ({ datacenters: [each] })),
  };
  const choose = (zones: readonly string[], pressed: boolean) => {
    const { input } = crowded({ az1: zones, az2: hallTwo, az3: hallThree });
    const processes = Object.fromEntries(
      Object.entries(input.status.cluster?.processes ?? {}).map(([id, process]) => {
        const { data_hall: dcid = "", ...rest } = process.locality ?? {};
        return [id, { ...process, locality: { ...rest, dcid } }];
      }),
    );
    const status = { cluster: { processes, configuration } };
    const { wish: _hallWish, ...others } = input;
    const regional = { ...others, configuration, status };
    const choice = chooseCoordinators({ ...regional, isPressed: pressed, isSettled: pressed });
    if (!choice.ok) return choice.problem;
    const connectionString = `a:b@${choice.addresses.join()}`;
    assert.equal(coordinatorProblem({ ...regional, connectionString, isSettled: true }), undefined);
    return choice.addresses.length;
  };
  assert.match(String(choose(["a", "b", "a"], false)), /only 8 can be found/);
  assert.equal(choose(["a", "b", "a"], true), 9);
  assert.equal(choose(["a", "b", "c"], true), 9);
  assert.match(String(choose(["a", "a", "a"], true)), /only 7 can be found/);
});

test("[HALL42] those that may share a zone keep their places when they are to be reached otherwise", () => {
  const zones = { az1: ["a", "b", "a"], az2: hallTwo, az3: hallThree };
  const regions = ["az1", "az2", "az3"].map((id) => ({ datacenters: [{ id, priority: 1 }] }));
  const overRegions = { redundancy_mode: "double" as const, usable_regions: 2, regions };
  const overHalls = { redundancy_mode: "three_data_hall" as const };
  const tls = { mainContainer: { enableTls: true } };
  const names = { routing: { useDNSInClusterFile: true } };
  const choose = (
    isOverHalls: boolean,
    change: Pick<ClusterSpec, "mainContainer" | "routing">,
    { isSettled = true, first = "log-0", spare = ["a"], avoided = [] as string[] } = {},
  ) => {
    const { input } = crowded({ ...zones, az1: [...zones.az1, ...spare] });
    const processes: Record<string, StatusProcess> = {};
    for (const [id, { locality = {}, ...process }] of Object.entries(
      input.status.cluster?.processes ?? {},
    )) {
      const { data_hall: hall = "", ...rest } = locality;
      const host = process.address?.replace(":4501", "") ?? "";
      const command_line = `fdbserver --public_address=${host}:4501,${host}:4500:tls`;
      const place = { ...rest, [isOverHalls ? "data_hall" : "dcid"]: hall };
      processes[id] = { ...process, command_line, locality: place };
    }
    const others = Object.keys(processes).filter((id) => !["log-0", "log-3"].includes(id));
    const isNamed = change.mainContainer !== undefined && change.routing !== undefined;
    const coordinators = [first, ...others].map((id) =>
      isNamed ? `${id}.test:4501` : (processes[id]?.address ?? ""),
    );
    const configuration = isOverHalls ? overHalls : overRegions;
    const { wish: _wish, ...rest } = input;
    const asked = {
      ...rest,
      ...{ spec: { ...input.spec, ...change }, status: { cluster: { processes, configuration } } },
      ...{ configuration, isSettled, avoided: new Set(avoided) },
      connectionString: `a:b@${coordinators.join()}`,
    };
    const choice = choiceOf(asked);
    if (!choice.ok) return choice.problem;
    const connectionString = `a:b@${choice.addresses.join()}`;
    assert.equal(coordinatorProblem({ ...asked, connectionString }), undefined);
    assert.ok(
      choice.addresses.every((each) => each.endsWith(change.mainContainer ? "tls" : "4501")),
    );
    assert.equal(choice.addresses.length, 9);
    return choice.ids.toSorted().join(" ");
  };
  const others = "log-1 log-2 log-4 log-5 log-6 log-7 log-8 log-9";
  for (const isOverHalls of [true, false]) {
    for (const change of [tls, { ...tls, ...names }, names]) {
      assert.equal(choose(isOverHalls, change), `log-0 ${others}`);
      const last = "log-1 log-2 log-3 log-4 log-5 log-6 log-7 log-8 log-9";
      assert.equal(choose(isOverHalls, change, { first: "log-3" }), last);
    }
    assert.match(choose(isOverHalls, tls, { isSettled: false }), /only 8 can be found/);
    assert.match(choose(isOverHalls, tls, { avoided: ["log-1"] }), /only [78] can be found/);
    // Nine zones are better than the same places.
    assert.match(choose(isOverHalls, tls, { spare: ["c"] }), /^log-\d log-1 log-3 log-4/);
  }
});

test("[HALL16] halls of other resources count as whole while they are out of sight", () => {
  const spec = hallSpec({ localities: [{ key: "data_hall", value: "az1" }] });
  assert.deepEqual(wish(spec, [], statusWith({ az1: 3 }, "three_data_hall")), nine);
  assert.deepEqual(wish(spec, [], statusWith({ az1: 2, az2: 2 }, "three_data_hall")), five);
});

test("[HALL22] the mode in force decides, not the one that this resource wants next", () => {
  const groups = groupsIn("log", even);
  const { count } = wish(hallSpec(), groups, statusWith(even, "triple"));
  assert.equal(count, 5);
  const spec = { databaseConfiguration: { redundancy_mode: "triple" as const }, dataHall: "az1" };
  assert.deepEqual(wish(spec, [], statusWith(even, "three_data_hall")), nine);
});

test("[HALL19] what is missing for a mode over halls is said exactly", () => {
  const problem = (halls: Record<string, number>, mode: string, locality?: string) =>
    hallsProblem(statusWith(halls, "triple", locality), mode);
  assert.equal(problem(even, "three_data_hall"), undefined);
  assert.match(
    problem({ az1: 2, az2: 1, az3: 3 }, "three_data_hall") ?? "",
    /: hall az2 has 1 zone, at least 2 needed$/,
  );
  assert.match(problem({ az1: 2, az2: 2 }, "three_data_hall") ?? "", /: there are 2 \(az1, az2\)$/);
  assert.match(
    problem({ az1: 2, az2: 2, az3: 2, az4: 2 }, "three_data_hall") ?? "",
    /: there are 4 \(az1, az2, az3, az4\)$/,
  );
  assert.match(problem(even, "three_datacenter") ?? "", /: no such process tells its hall$/);
  assert.equal(problem(even, "three_datacenter", "dcid"), undefined);
  assert.equal(problem({ az1: 2, az2: 2 }, "three_data_hall_fallback"), undefined);
  assert.match(
    problem({ az1: 2, az2: 1 }, "three_data_hall_fallback") ?? "",
    /needs log processes in 2 values of data_hall with 2 zones each: hall az2 has 1 zone/,
  );
  assert.match(
    problem({ dc1: 2, dc2: 1 }, "three_datacenter_fallback", "dcid") ?? "",
    /needs storage processes in 2 values of dcid with 2 zones each/,
  );
  const excluded = statusWith(even, "triple");
  for (const process of Object.values(excluded.cluster?.processes ?? {})) {
    if (process.locality?.["data_hall"] === "az3") process.excluded = true;
  }
  assert.match(hallsProblem(excluded, "three_data_hall") ?? "", /there are 2 \(az1, az2\)/);
  const four = statusWith({ az1: 2, az2: 2, az3: 2, wrong: 2 }, "triple");
  const leaving = new Set([1, 2].flatMap((zone) => [`storage-wrong-${zone}`, `log-wrong-${zone}`]));
  assert.equal(
    hallsProblem(four, "three_data_hall", leaving),
    undefined,
    "who goes does not count",
  );
});

test("[HALL20] an exclusion that leaves too few halls is refused, and the way is named", () => {
  const texts = (mode: string, leaving: string[], locality?: string) =>
    zoneProblems(statusWith(even, mode, locality), new Set(leaving), mode).map(({ text }) => text);
  const hall = [1, 2, 3].map((zone) => `storage-az3-${zone}`);
  assert.deepEqual(texts("three_data_hall", hall.slice(0, 2)), []);
  assert.match(
    texts("three_data_hall", hall).join(),
    /left in 2 halls \(az1, az2\) .* set redundancy_mode three_data_hall_fallback first$/,
  );
  assert.deepEqual(texts("three_data_hall_fallback", hall), []);
  assert.match(
    texts("three_datacenter", hall.slice(0, 2), "dcid").join(),
    /with at least 2 zones, and three_datacenter needs 3/,
  );
  const logs = ["log-az3-1", "log-az3-2", "log-az3-3"];
  assert.deepEqual(texts("three_data_hall", logs), [], "logs need two halls only");
  const more = [...logs, "log-az2-1", "log-az2-2"];
  assert.match(
    texts("three_data_hall_fallback", more).join(),
    /and three_data_hall_fallback needs 2$/,
  );
});
