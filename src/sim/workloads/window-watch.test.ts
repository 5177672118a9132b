// What counts as disturbing a database outside of its windows.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import { WindowWatch } from "./window-watch.ts";

const minuteMs = 60_000;
type Status = NonNullable<FoundationDBCluster["status"]>;

/** A cluster whose window is open for the first ten minutes of each hour. */
function clusterWith(status: Status, annotations = {}): FoundationDBCluster {
  const maintenanceWindows = [{ cron: "0 * * * *", duration: "10m" }];
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "life", generation: 3, annotations },
    spec: { version: "7.3.63", automationOptions: { maintenanceWindows } },
    status: { configured: true, ...status },
  };
}

function podWith(image = "foundationdb/foundationdb:7.3.63"): Pod {
  const containers = [{ name: "foundationdb", image }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "life-log-1" }, spec: { containers } };
}

function watchAt(minute: number): { watch: WindowWatch; violations: string[] } {
  const violations: string[] = [];
  const watch = new WindowWatch((text) => violations.push(text));
  watch.times = () => [Date.UTC(2026, 0, 1) + minute * minuteMs];
  watch.isWell = () => true;
  return { watch, violations };
}

const since = "2026-01-01T00:00:00Z";
const group = { processGroupID: "log-1", processClass: "log" };
const leaving = { ...group, removalTimestamp: since };

test("[WIN16] commands and deletions outside of the windows are seen", () => {
  const { watch, violations } = watchAt(30);
  watch.noteCluster(clusterWith({}));
  watch.checkCommand("kill");
  watch.checkDeletion(podWith(), "life");
  assert.deepEqual(violations, [
    "kill outside of the windows of life",
    "pod life-log-1 is taken down outside of the windows of life",
  ]);
});

test("[WIN16] work that begins outside of them is seen, and so is a process group that is let go", () => {
  const { watch, violations } = watchAt(30);
  watch.noteCluster(clusterWith({ processGroups: [group] }));
  watch.noteCluster(clusterWith({ processGroups: [leaving] }));
  watch.noteCluster(clusterWith({ begunWork: { since, processes: "a" } }));
  assert.deepEqual(violations, [
    "log-1 is let go outside of the windows, and it serves",
    "work of life (processes) begins outside of its windows",
  ]);
});

const excused: readonly [string, number, Status, object][] = [
  ["in a window", 5, {}, {}],
  ["work that has begun", 30, { begunWork: { since, processes: "a" } }, {}],
  ["an urgent generation", 30, {}, { "foundationdb.org/urgent-generation": "3" }],
  ["no database yet", 30, { configured: false }, {}],
];

for (const [what, minute, status, annotations] of excused) {
  test(`[WIN16] not a violation: ${what}`, () => {
    const { watch, violations } = watchAt(minute);
    watch.noteCluster(clusterWith(status, annotations));
    watch.checkCommand("kill");
    watch.checkDeletion(podWith(), "life");
    assert.deepEqual(violations, []);
  });
}

const images: readonly [string, string | undefined, number][] = [
  ["foundationdb/foundationdb:7.1.57", "7.3.63", 0],
  ["foundationdb/fdb-kubernetes-monitor:7.1.57-debug", "7.3.63", 0],
  ["foundationdb/foundationdb:7.3.63", "7.3.63", 1],
  ["foundationdb/foundationdb:7.3.43", "7.3.63", 1],
  ["foundationdb/foundationdb:7.1.57", undefined, 1],
  ["registry/foundationdb", "7.3.63", 1],
];

for (const [image, runningVersion, count] of images) {
  test(`[WIN16] [WIN26] with ${image} while ${runningVersion ?? "an unknown version"} runs: ${count} seen`, () => {
    const { watch, violations } = watchAt(30);
    watch.noteCluster(clusterWith(runningVersion === undefined ? {} : { runningVersion }));
    watch.checkDeletion(podWith(image), "life");
    assert.equal(violations.length, count);
    watch.checkCommand("kill");
    assert.equal(violations.length, count + 1, "no other act");
  });
}

test("[WIN16] what has failed may go at any time", () => {
  const { watch, violations } = watchAt(30);
  const processGroupConditions = [{ type: "MissingProcesses", timestamp: 1 }] as const;
  watch.noteCluster(
    clusterWith({ processGroups: [{ ...group, processGroupConditions }] } as Status),
  );
  watch.noteCluster(
    clusterWith({ processGroups: [{ ...leaving, processGroupConditions }] } as Status),
  );
  watch.noteCluster(clusterWith({ processGroups: [group] }));
  watch.isWell = () => false;
  watch.noteCluster(clusterWith({ processGroups: [leaving] }));
  assert.deepEqual(violations, []);
});
