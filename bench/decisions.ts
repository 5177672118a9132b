// What single decisions cost in a cluster of 5,000 process groups: whom of 1,000 failed ones to replace, how to get
// from ten logical fault domains to seven, and how to even out an overfull hall; and whole plans while a large part leaves.
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../src/api/cluster.ts";
import { processClasses } from "../src/model/process-class.ts";
import { desiredFor, PlanMemory } from "../src/plan/view/plan-memory.ts";
import { addProcessGroups } from "../src/plan/process-groups/add-process-groups.ts";
import { replaceFailedProcessGroups } from "../src/plan/replacement/replace-failed-process-groups.ts";
import { replaceMisconfiguredProcessGroups } from "../src/plan/replacement/replace-misconfigured-process-groups.ts";
import type { Snapshot } from "../src/plan/snapshot.ts";
import type { Draft } from "../src/plan/step.ts";
import { nodesIn } from "../test/operate/hall-scene.ts";
import { PlanWorld } from "../test/operate/plan-world.ts";
import { mark } from "./aims.ts";
import { DepartureScene } from "./departures.ts";
import type { Departure } from "./departures.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";

export interface DecisionRun {
  name: string;
  groups: number;
  /** What was decided, to see that something was. */
  marked: number;
  /** The middle of several. */
  cpuMs: number;
  aimMs: number;
}

const cpuMsMax = 50;
const groupCount = 5_000;
const failedCount = 1_000;
const repetitions = 15;
const counts = { storage: 4_000, log: 500, stateless: 500 };

export function runDecisions(): DecisionRun[] {
  return [
    measured("1,000 failed process groups", failed),
    measured("10 to 7 domains", fewer),
    measured("one hall overfull", overfull),
    ...departures({ groups: 2_000, leaving: 800 }, { plan: 100, guard: 25 }),
    ...departures({ groups: 5_000, leaving: 2_000 }, { plan: 250, guard: 60 }),
    ...departures({ groups: 2_000, leaving: 1_500, isGlobal: true }, { plan: 150 }),
  ];
}

/** The whole plan, and what the guard looks at before the act. */
function departures(
  departure: Departure,
  aimMs: { plan: number; guard?: number },
): readonly DecisionRun[] {
  const scene = new DepartureScene(departure);
  const { groups, leaving, isGlobal = false } = departure;
  const name = `${leaving.toLocaleString("en")} leave${isGlobal ? " by address, as one of several" : ""}`;
  const plan = scene.plan();
  const { cpuMs } = timed(() => scene.plan());
  const runs = [{ name: `${name}: plan`, cpuMs, aimMs: aimMs.plan }];
  if (aimMs.guard !== undefined) {
    const guard = timed(() => scene.guard(plan));
    runs.push({ name: `${name}: guard`, cpuMs: guard.cpuMs, aimMs: aimMs.guard });
  }
  return runs.map((run) => ({ ...run, groups, marked: leaving }));
}

function timed<T>(work: () => T): { cpuMs: number; result: T | undefined } {
  const times: number[] = [];
  let result: T | undefined;
  for (let run = 0; run < repetitions; run += 1) {
    const before = process.cpuUsage();
    result = work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { cpuMs: sorted[repetitions >> 1] ?? 0, result };
}

type Case = () => { snapshot: Snapshot; draft: Draft; decide: Decide };
type Decide = (snapshot: Snapshot, draft: Draft) => readonly ProcessGroup[];

function measured(name: string, make: Case): DecisionRun {
  const { snapshot, draft, decide } = make();
  const { cpuMs, result = [] } = timed(() => decide(snapshot, draft));
  const marked = result.filter((group) => group.removalTimestamp !== undefined).length;
  return { name, groups: groupCount, marked, cpuMs, aimMs: cpuMsMax };
}

function failed(): ReturnType<Case> {
  const replacementBucket = { enabled: true, storage: 20, log: 5, stateless: 5 };
  const automationOptions = { replacements: { replacementBucket } };
  const timestamp = 1;
  const groups = groupsOf(() => ({})).map((group, index) =>
    index % (groupCount / failedCount) === 0
      ? { ...group, processGroupConditions: [{ type: "MissingProcesses" as const, timestamp }] }
      : group,
  );
  const decide: Decide = (snapshot, draft) =>
    replaceFailedProcessGroups(snapshot, draft).groups ?? draft.groups;
  return { ...inputs({ automationOptions }, groups), decide };
}

/** All at once, so that the whole change is decided, and its successors are placed. */
function fewer(): ReturnType<Case> {
  const spec = {
    distributionConfig: { enabled: true, desiredFaultDomains: 7 },
    automationOptions: { maxConcurrentReplacements: groupCount },
  };
  const groups = groupsOf((processClass, number) => {
    const distributionKey = `${processClass}-${number % 10}`;
    return { distributionKey, faultDomain: distributionKey };
  });
  const decide: Decide = (snapshot, draft) => {
    const replaced = replaceMisconfiguredProcessGroups(snapshot, draft).groups ?? draft.groups;
    return addProcessGroups(snapshot, { ...draft, groups: replaced }).groups ?? replaced;
  };
  return { ...inputs(spec, groups), decide };
}

/** Half of every class is in one of three halls: those above its share are chosen, and halls for their successors. */
function overfull(): ReturnType<Case> {
  const topologyKey = "topology.kubernetes.io/zone";
  const spec: Partial<ClusterSpec> = {
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [{ key: "data_hall", topologyKey }],
  };
  const halls = ["az1", "az1", "az2", "az3"];
  const groups = groupsOf((_, number) => ({ hall: halls[number % halls.length] ?? "" }));
  const decide: Decide = (snapshot, draft) => {
    const replaced = replaceMisconfiguredProcessGroups(snapshot, draft).groups ?? draft.groups;
    return addProcessGroups(snapshot, { ...draft, groups: replaced }).groups ?? replaced;
  };
  const { snapshot, draft } = inputs(spec, groups);
  const zones = Array.from({ length: 600 }, (_, index) => `az${(index % 3) + 1}`);
  return { snapshot: { ...snapshot, placementNodes: nodesIn(...zones) }, draft, decide };
}

function groupsOf(
  place: (processClass: string, number: number) => Partial<ProcessGroup>,
): ProcessGroup[] {
  return processClasses.flatMap((processClass) => {
    const count = (counts as Partial<Record<string, number>>)[processClass] ?? 0;
    return Array.from({ length: count }, (_, index) => ({
      processGroupID: `${processClass}-${index + 1}`,
      processClass,
      faultDomain: `node-${index}`,
      ...place(processClass, index),
    }));
  });
}

function inputs(
  spec: Partial<ClusterSpec>,
  groups: readonly ProcessGroup[],
): { snapshot: Snapshot; draft: Draft } {
  const world = new PlanWorld({ processCounts: counts, ...spec });
  const status = {
    client: { database_status: { available: true, healthy: true } },
    cluster: { configuration: { redundancy_mode: "double" }, processes: {} },
  };
  const database = { kind: "seen" as const, status, observedMs: world.nowMs };
  const snapshot = world.snapshot({ database });
  const runningVersion = world.cluster.spec.version;
  const desired = desiredFor(new PlanMemory(), world.cluster, { runningVersion });
  return {
    snapshot,
    draft: {
      status: { runningVersion },
      groups,
      desired,
      actions: [],
      facts: {},
      isUnfinished: false,
      isHeldByWindow: false,
    },
  };
}

export function decisionTable(runs: readonly DecisionRun[]): string {
  const columns: Column<DecisionRun>[] = [
    { title: "decision", align: "left", cell: ({ name }) => name },
    { title: "groups", cell: ({ groups }) => String(groups) },
    { title: "marked", cell: ({ marked }) => String(marked) },
    { title: "CPU ms", cell: ({ cpuMs }) => cpuMs.toFixed(1) },
    { title: "aim", cell: ({ aimMs }) => `<= ${aimMs}` },
    { title: "", align: "left", cell: ({ cpuMs, aimMs }) => mark(cpuMs <= aimMs) },
  ];
  return renderTable("Single decisions in a large cluster", columns, runs);
}

export function decisionAims(runs: readonly DecisionRun[]): Aim[] {
  return runs.map(({ name, groups, cpuMs, aimMs }) => ({
    ...{ what: `${name} (${groups} process groups), CPU ms`, value: cpuMs, limit: aimMs },
    isMet: cpuMs <= aimMs,
  }));
}
