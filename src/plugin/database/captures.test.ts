// The views of a database over every capture of a real one that lies in test/data.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readableStatus } from "../../fdb/readable-status.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { topLines } from "../top/top-text.ts";
import { sortKeys, topView } from "../top/top-view.ts";
import { treeLines } from "../tree/tree-text.ts";
import { treeView } from "../tree/tree-view.ts";
import { figureRows } from "./figures-text.ts";
import { databaseFigures } from "../../model/database-figures.ts";
import { processRows } from "../../model/process-row.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/status");
const names = readdirSync(folder).map((file) => file.replace(/\.json$/, ""));

function capture(name: string): DatabaseStatus {
  return readableStatus(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
}

const cluster = {
  ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
  metadata: { name: "orders", namespace: "shop" },
  spec: { version: "7.3.79" },
};

test("[VW5] every process of every capture has a row, and no figure that the database does not report", () => {
  for (const name of names) {
    const status = capture(name);
    const rows = processRows(status);
    assert.equal(rows.length, Object.keys(status.cluster?.processes ?? {}).length, name);
    for (const row of rows) {
      for (const [field, value] of Object.entries(row)) assert.ok(value !== undefined, field);
    }
  }
});

test("[VW5] a storage server and a log have a queue, a stateless process has none", () => {
  const rows = processRows(capture("03-healthy-double"));
  const storage = rows.find(({ group }) => group === "storage-1");
  const log = rows.find(({ group }) => group === "log-1");
  const stateless = rows.find(({ group }) => group === "stateless-1");
  assert.deepEqual(storage?.roles, ["storage"]);
  assert.ok((storage?.queueBytes ?? -1) >= 0 && (storage?.lagSeconds ?? -1) >= 0);
  assert.ok(log?.isCoordinator && (log.queueBytes ?? -1) >= 0 && log.lagSeconds === undefined);
  assert.ok(stateless?.queueBytes === undefined && (stateless?.cpuCores ?? -1) >= 0);
});

test("[VW5] what is wrong with a process stands beside it", () => {
  const excluded = processRows(capture("20-excluding-address-storage-1"));
  assert.deepEqual(
    excluded.filter(({ notes }) => notes.length > 0).map(({ group, notes }) => [group, notes]),
    [["storage-1", ["excluded"]]],
  );
});

const told: readonly [capture: string, label: string, text: RegExp][] = [
  [
    "03-healthy-double",
    "Safety",
    /^1 zone may fail without loss of data or availability; data: healthy$/,
  ],
  ["03-healthy-double", "Coordinators", /^all 3 are reachable$/],
  ["10-maintenance-on", "Set by hand", /^zone \S+ is under maintenance$/],
  ["20-excluding-address-storage-1", "Set by hand", /^1 exclusion$/],
  ["25-data-movement", "Data", /(nothing moves|\d B to move|\d [kMG]B to move)/],
  ["34-two-of-three-coordinators-down", "Coordinators", /^1 of 3 are reachable$/],
  ["40-locked", "Set by hand", /^the database is locked$/],
  ["regions-07-usable2-healthy", "Regions", /^dc1 is the primary$/],
  ["tdh-05-tdh-9coord-healthy", "Safety", /^2 zones may fail without loss of data or availability/],
];

for (const [name, label, text] of told) {
  test(`[VW6] ${name}: ${label}`, () => {
    const row = figureRows(databaseFigures(capture(name))).find(([each]) => each === label);
    assert.match(row?.[1] ?? "(no row)", text);
  });
}

test("[VW6] a database that does not serve is told by its own words, without made-up figures", () => {
  const figures = databaseFigures(capture("34-two-of-three-coordinators-down"));
  assert.equal(figures.isAvailable, false);
  assert.deepEqual(figures.messages, ["Unable to reach a quorum of coordinators."]);
  assert.deepEqual(
    figureRows(figures).map(([label]) => label),
    ["Coordinators"],
  );
});

test("[VW2] no line of top or of the tree is wider than the terminal, whatever is captured", () => {
  for (const name of names) {
    for (const width of [60, 80, 120, 200]) {
      const status = capture(name);
      const screen = { width, hasColor: false };
      const frame = { title: "shop/orders", asOf: "04:00:00Z" };
      const lines = [
        ...topLines(topView(status, { sort: "cpu" }), frame, screen),
        ...treeLines(treeView({ cluster, pods: [], status }, {}), screen),
      ];
      for (const line of lines) assert.ok(line.length <= width, `${name} ${width}: ${line}`);
      assert.ok(!lines.some((line) => /undefined|NaN|null|\[object/.test(line)), name);
    }
  }
});

test("[VW8] every order has all processes, the largest first and what is not known last", () => {
  const status = capture("tdh-05-tdh-9coord-healthy");
  for (const sort of sortKeys) {
    const { processes } = topView(status, { sort });
    assert.equal(processes.length, Object.keys(status.cluster?.processes ?? {}).length, sort);
  }
  const lags = topView(status, { sort: "lag" }).processes.map(({ lagSeconds }) => lagSeconds ?? -1);
  assert.deepEqual(
    lags,
    lags.toSorted((left, right) => right - left),
  );
  const cpu = topView(status, { sort: "cpu" }).processes.map(({ cpuCores = 0 }) => cpuCores);
  assert.deepEqual(
    cpu,
    cpu.toSorted((left, right) => right - left),
  );
});

test("[VW8] one class alone, and as many lines as the terminal has", () => {
  const status = capture("tdh-05-tdh-9coord-healthy");
  const view = topView(status, { sort: "name", processClass: "log" });
  assert.ok(view.processes.length > 3 && view.processes.every((row) => row.processClass === "log"));
  const whole = topView(status, { sort: "cpu" });
  const frame = { title: "t", asOf: "", heightMax: 12 };
  const lines = topLines(whole, frame, { width: 120, hasColor: false });
  assert.equal(lines.length, 12);
  const shown = lines.length - lines.findIndex((line) => line.startsWith("PROCESS")) - 2;
  assert.equal(lines.at(-1), `and ${whole.processes.length - shown} more`);
});

test("[VW10] halls, datacenters and regions are levels of the tree where there are any", () => {
  const kinds = (name: string): string[] => {
    const found: string[] = [];
    const view = treeView({ cluster, pods: [], status: capture(name) }, {});
    for (let [place] = view.places; place !== undefined; [place] = place.places) {
      found.push(place.kind);
    }
    return found;
  };
  assert.deepEqual(kinds("tdh-05-tdh-9coord-healthy"), ["hall", "zone", "node"]);
  assert.deepEqual(kinds("regions-07-usable2-healthy"), ["region", "datacenter", "node"]);
  assert.deepEqual(kinds("03-healthy-double"), ["node"]);
});

test("[VW10] the primary and the satellites of regions are named", () => {
  const status = capture("regions-07-usable2-healthy");
  const { places } = treeView({ cluster, pods: [], status }, {});
  assert.deepEqual(
    places.map(({ name, places: inside }) => [name, inside.map((one) => [one.name, ...one.notes])]),
    [
      [
        "dc1",
        [
          ["dc1", "primary"],
          ["dc3", "satellite"],
        ],
      ],
      ["dc2", [["dc2"], ["dc4", "satellite"]]],
    ],
  );
});
