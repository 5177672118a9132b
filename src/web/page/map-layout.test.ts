// Where tiles lie and where keys lead. Rules: spec/page.md [PAGE7], [PAGE8].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { MapColumn } from "../view-model.ts";
import { layoutMap, nextTrouble, sizeFor, tileAfter, tileAt } from "./map-layout.ts";
import { tileStates } from "./words.ts";

function columnsOf(shape: readonly (readonly number[])[]): { columns: MapColumn[]; total: number } {
  let next = 0;
  const columns = shape.map((rows, column) => ({
    id: `zone-${column}`,
    places: [{ kind: "fault domain" as const, name: `zone-${column}`, notes: [] }],
    rows: rows.map((count, row) => ({
      ...{ node: `node-${column}-${row}`, notes: [] },
      groups: Array.from({ length: count }, () => `storage-${(next += 1)}`),
    })),
  }));
  return { columns, total: next };
}

const shapes: (readonly (readonly number[])[])[] = [
  [[1], [1], [1]],
  [
    [2, 3],
    [4, 1],
    [3, 3],
  ],
  [[]],
  Array.from({ length: 9 }, () => [20, 7, 30]),
  Array.from({ length: 3 }, () => Array.from({ length: 40 }, () => 17)),
];

test("[PAGE7] every process group has one tile, inside its panel and the map, and no two overlap", () => {
  for (const shape of shapes) {
    for (const width of [280, 640, 1_240, 2_400]) {
      const map = columnsOf(shape);
      const { tiles, panels, height } = layoutMap(map, width);
      assert.equal(tiles.length, map.total);
      const seen = new Set<string>();
      for (const tile of tiles) {
        const panel = panels[tile.panel];
        assert.ok(panel !== undefined);
        assert.ok(tile.x >= panel.x && tile.x + tile.width <= panel.x + panel.width, `${width}`);
        assert.ok(tile.y >= panel.y && tile.y + tile.height <= panel.y + panel.height);
        assert.ok(tile.x + tile.width <= width && tile.y + tile.height <= height);
        assert.ok(!seen.has(`${tile.x} ${tile.y}`));
        seen.add(`${tile.x} ${tile.y}`);
      }
    }
  }
});

test("[PAGE7] the more tiles there are, the smaller they get", () => {
  assert.deepEqual([3, 150, 151, 600, 601, 2_000].map(sizeFor), [
    ...["large", "large", "medium", "medium", "small", "small"],
  ]);
});

test("[PAGE7] a point of a tile leads to it, a point between tiles to none", () => {
  const layout = layoutMap(columnsOf([[2, 3]]), 800);
  for (const tile of layout.tiles) {
    assert.equal(tileAt(layout, tile.x, tile.y)?.group, tile.group);
    assert.equal(tileAt(layout, tile.x + tile.width, tile.y)?.group === tile.group, false);
  }
});

test("[PAGE8] arrows lead to neighbours, down and up within a column, and every key stays on the map", () => {
  const layout = layoutMap(columnsOf([[1, 1], [1, 1], [1]]), 900);
  const after = (index: number, key: string): number | undefined => tileAfter(layout, index, key);
  assert.equal(after(0, "ArrowRight"), 1);
  assert.equal(after(0, "ArrowLeft"), 0);
  assert.equal(after(0, "ArrowDown"), 1);
  assert.equal(after(3, "ArrowUp"), 2);
  assert.equal(after(0, "ArrowUp"), 0);
  assert.equal(after(0, "PageDown"), 2);
  assert.equal(after(4, "PageDown"), 4);
  assert.equal(after(4, "PageUp"), 2);
  assert.equal(after(1, "End"), 4);
  assert.equal(after(4, "Home"), 0);
  assert.equal(after(0, "x"), undefined);
  assert.equal(after(99, "ArrowUp"), 0);
  assert.equal(tileAfter(layoutMap(columnsOf([[]]), 900), 0, "End"), undefined);
});

test("[PAGE8] arrows reach every tile from the first", () => {
  const layout = layoutMap(
    columnsOf([
      [20, 7],
      [3, 30],
    ]),
    700,
  );
  const reached = new Set([0]);
  const open = [0];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const key of ["ArrowDown", "ArrowRight"]) {
      const next = tileAfter(layout, index, key) ?? index;
      if (!reached.has(next)) open.push(next);
      reached.add(next);
    }
  }
  assert.equal(reached.size, layout.tiles.length);
});

test("[PAGE8] the next in trouble is the worst first, and in the end the worst again", () => {
  const states = ["outdated", "well", "failing", "asleep", "starting", "failing"] as const;
  const visited: (number | undefined)[] = [];
  let at: number | undefined = 1;
  for (let turn = 0; turn < 5; turn += 1) {
    at = nextTrouble(states, at ?? 0, tileStates);
    visited.push(at);
  }
  assert.deepEqual(visited, [2, 5, 4, 0, 2]);
  assert.equal(nextTrouble(["outdated", "failing"], -1, tileStates), 1, "nobody has moved yet");
  assert.equal(nextTrouble(["well", "asleep"], 0, tileStates), undefined);
});
