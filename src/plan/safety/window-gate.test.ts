// Work that could not begin before its window closed.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sampleDatabase, sampleNowMs, viewOf } from "../../../test/fixtures/sample-view.ts";
import type { Action } from "../action.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { windowRefusal } from "./maintenance-window.ts";
import { throughWindows, withoutFutileWork } from "./window-gate.ts";

const since = "2026-01-02T01:59:00Z";

/** A window from one to two. */
function snapshotAt(nowMs: number, overrides: Partial<Snapshot>): Snapshot {
  const { cluster, ...view } = viewOf(sampleDatabase());
  const maintenanceWindows = [{ cron: "0 1 * * *", duration: "1h" }];
  return {
    ...view,
    cluster: {
      ...cluster,
      spec: { ...cluster.spec, automationOptions: { maintenanceWindows } },
      status: { ...cluster.status, begunWork: { since, processes: "a" } },
    },
    refusals: [{ key: "a", step: "b", what: "c", reason: "LockHeld", message: "d" }],
    ...overrides,
    nowMs,
  } as Snapshot;
}

const hourMs = 3_600_000;
const [open, closed] = [sampleNowMs + 1.99 * hourMs, sampleNowMs + 2.01 * hourMs];

/** One process has run for so long, the others for longer than anybody remembers. */
function startedBefore(uptimeSeconds: number): Partial<Snapshot> {
  const { status } = sampleDatabase();
  const processes = Object.entries(status.cluster?.processes ?? {}).map(
    ([key, process], index) =>
      [key, { ...process, uptime_seconds: index === 0 ? uptimeSeconds : 1e6 }] as const,
  );
  const cluster = { ...status.cluster, processes: Object.fromEntries(processes) };
  const database = { kind: "seen", status: { ...status, cluster }, observedMs: closed } as const;
  return { database, lastDatabaseWriteMs: 0 };
}

for (const [what, nowMs, overrides, isKept] of [
  ["it was refused until the window closed", closed, {}, false],
  ["the window is open", open, {}, true],
  ["nothing was refused, as in an operator that has just started", closed, { refusals: [] }, true],
  ["an act has happened since", closed, { lastDatabaseWriteMs: closed - 1_000 }, true],
  ["an act happened before it", closed, { lastDatabaseWriteMs: sampleNowMs }, false],
  ["the operator before this one restarted a process since", closed, startedBefore(30), true],
  ["in an operator that has just started no process is new", closed, startedBefore(1e5), false],
  ["an act is under way", closed, { runningCommand: "restart log-1" }, true],
] as const) {
  test(`[WIN10] work that was noted ${isKept ? "stays" : "is forgotten"}: ${what}`, () => {
    const { cluster } = withoutFutileWork(snapshotAt(nowMs, overrides));
    assert.equal(cluster.status?.begunWork !== undefined, isKept);
    assert.equal(cluster.status?.configured, true);
  });
}

test("[WIN7] a restart in which one process goes first names those that follow", () => {
  const groups = ["log-1", "log-2", "log-3", "log-4"].map((id) => ({
    ...{ processGroupID: id, processClass: "log", addresses: [] },
    ...(id === "log-3" ? { removalTimestamp: since } : {}),
    processGroupConditions: id === "log-4" ? [] : [{ type: "IncorrectCommandLine", timestamp: 1 }],
  }));
  const snapshot = snapshotAt(closed, { checks: { window: () => "closed" } as never });
  const told = (isUpgrade: boolean, ...processGroupIds: readonly string[]): string => {
    const action = { type: "killProcesses", addresses: [], isUpgrade, processGroupIds } as unknown;
    const draft = { groups, status: {} } as unknown as Draft;
    const { waits = [] } = throughWindows(snapshot, draft, "bounceProcesses", {
      actions: [action as Action],
    });
    return waits.map(({ message }) => message.replace(/^.* itself will /, "")).join();
  };
  assert.equal(told(false, "log-1"), "restart log-1 first, then log-2");
  assert.equal(told(false, "log-1", "log-2"), "restart log-1 and log-2");
  assert.equal(told(true, "log-1"), "restart log-1");
});

for (const [what, database] of [
  ["serves", {}],
  ["is not named by a status without coordinators", { available: false }],
] as const) {
  test(`[WIN5] a process group that ${what} is not let go outside of a window`, () => {
    const { status } = sampleDatabase();
    const isSilent = "available" in database;
    const client = { ...status.client, database_status: { available: !isSilent, healthy: false } };
    const cluster = { ...status.cluster, ...(isSilent ? { processes: {} } : {}) };
    const seen = { kind: "seen", status: { ...status, client, cluster }, observedMs: closed };
    const snapshot = snapshotAt(closed, { database: seen } as unknown as Partial<Snapshot>);
    const groups = [{ processGroupID: "log-1", processClass: "log", addresses: [] }];
    const draft = { groups, status: {} } as unknown as Draft;
    const wanted = groups.map((group) => ({ ...group, removalTimestamp: since }));
    const step = "replaceMisconfiguredProcessGroups";
    const passed = throughWindows(snapshot, draft, step, { groups: wanted });
    assert.deepEqual(passed.groups, groups);
    assert.deepEqual(
      passed.waits?.map(({ reason }) => reason),
      ["MaintenanceWindowClosed"],
    );
  });
}

const versions = { "log-1": "7.1.57", "log-2": "7.3.79", "storage-1": "7.1.57" };

/** The pods of a fault domain, of which the database runs 7.3 and two were made for 7.1. */
function mixed() {
  const snapshot = snapshotAt(closed, {});
  const pods = new Map(snapshot.pods);
  const orders = Object.entries(versions).map(([processGroupId, version]) => {
    const name = `sample-${processGroupId}`;
    const containers = [{ name: "foundationdb", image: `foundationdb/foundationdb:${version}` }];
    pods.set(name, { metadata: { name }, spec: { containers } } as never);
    return { basis: { name, uid: "", resourceVersion: "" }, processGroupId };
  });
  const deletion = {
    ...({ type: "deletePods", because: "update", step: "updatePods", pods: orders } as const),
    ...{ evidenceMs: closed - 1_000, needsLock: false },
    maintenance: { zone: "a", seconds: 600, processGroupIds: ["storage-1", "log-2"] },
  };
  return { snapshot: { ...snapshot, pods }, deletion };
}

test("[WIN26] [WIN27] of pods that would be made again together only those between versions go", () => {
  const { snapshot, deletion } = mixed();
  const draft = { groups: snapshot.cluster.status?.processGroups ?? [], status: {} };
  const { actions, waits = [] } = throughWindows(
    snapshot,
    draft as unknown as Draft,
    "updatePods",
    { actions: [deletion] },
  );
  const pods = deletion.pods.filter(({ processGroupId }) => processGroupId !== "log-2");
  const maintenance = { ...deletion.maintenance, processGroupIds: ["storage-1"] };
  const passing = { ...deletion, pods, maintenance };
  assert.deepEqual(actions, [passing]);
  assert.deepEqual(
    waits.map(({ message }) => message.replace(/^.* itself will /, "")),
    ["delete pods sample-log-2 (update)"],
  );
  assert.equal(windowRefusal(snapshot, deletion)?.reason, "MaintenanceWindowClosed");
  assert.equal(windowRefusal(snapshot, passing), undefined);
});
