// An answer that is kept is the one that is made anew, at every moment and in whatever order they are asked for.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { apiVersion } from "../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../api/cluster.ts";
import { randomInteger, seededRandom } from "../../env/random.ts";
import { PlanMemory } from "../view/plan-memory.ts";
import { windowState } from "./window-state.ts";

const startMs = Date.UTC(2026, 2, 27);
const [hourMs, dayMs] = [3_600_000, 86_400_000];

type Windows = NonNullable<ClusterSpec["automationOptions"]>["maintenanceWindows"];

function clusterWith(maintenanceWindows: Windows): FoundationDBCluster {
  return {
    apiVersion,
    kind: "FoundationDBCluster",
    metadata: { generation: 1 },
    spec: { version: "7.3.63", automationOptions: { maintenanceWindows } },
  };
}

const shapes: readonly [string, Windows][] = [
  ["one", [{ cron: "0 2 * * *", duration: "2h" }]],
  // Clocks are put forward on the third of these days.
  ["in a zone", [{ cron: "30 2 * * *", duration: "3h", timeZone: "Europe/Berlin" }]],
  [
    "several that overlap",
    [
      { cron: "0 2 * * *", duration: "2h" },
      { cron: "0 3 * * 6,0", duration: "8h", timeZone: "America/New_York" },
    ],
  ],
  ["none that opens", [{ cron: "0 0 31 2 *", duration: "1h" }]],
  ["none that can be read", [{ cron: "soon", duration: "1h" }]],
];

for (const [name, maintenanceWindows] of shapes) {
  test(`[WIN1] [WIN2] the state does not depend on what was asked before: ${name}`, () => {
    const random = seededRandom(7);
    const cluster = clusterWith(maintenanceWindows);
    const memory = new PlanMemory();
    const kinds = new Set<string>();
    let nowMs = startMs;
    for (let count = 0; count < 300; count += 1) {
      const fresh = windowState({ cluster, nowMs, memory: new PlanMemory() });
      assert.deepEqual(windowState({ cluster, nowMs, memory }), fresh);
      kinds.add(fresh.kind);
      // Mostly on, now and then a clock that was set back.
      nowMs += randomInteger(random, -hourMs, 2 * hourMs);
      if (nowMs > startMs + 6 * dayMs) nowMs = startMs;
    }
    assert.equal(kinds.size, name.startsWith("none") ? 1 : 2);
  });
}

test("[WIN1] [WIN2] it changes at the very moment at which a window opens and closes", () => {
  const cluster = clusterWith([{ cron: "0 2 * * *", duration: "2h" }]);
  const memory = new PlanMemory();
  const kindAt = (nowMs: number): string => windowState({ cluster, nowMs, memory }).kind;
  assert.equal(kindAt(startMs), "closed");
  assert.equal(kindAt(startMs + 2 * hourMs - 1), "closed");
  assert.equal(kindAt(startMs + 2 * hourMs), "open");
  assert.equal(kindAt(startMs + 4 * hourMs - 1), "open");
  assert.equal(kindAt(startMs + 4 * hourMs), "closed");
});
