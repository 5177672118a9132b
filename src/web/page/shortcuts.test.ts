// Keys of the page. Rules: spec/page.md [PAGE8].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { shortcutOf } from "./shortcuts.ts";

const clusters = { view: "clusters" } as const;
const map = { view: "map", namespace: "default", name: "sample" } as const;

test("[PAGE8] keys lead to views, to the filter and to the map; other keys mean nothing", () => {
  assert.deepEqual(shortcutOf("?", clusters), { type: "help" });
  assert.deepEqual(shortcutOf("g", map), { type: "go", route: clusters });
  assert.deepEqual(shortcutOf("/", clusters), { type: "focus", selector: "#filter" });
  assert.deepEqual(shortcutOf("3", map), { type: "go", route: { ...map, view: "time-line" } });
  assert.deepEqual(shortcutOf("m", map), { type: "focus", selector: ".map-tiles" });
  assert.equal(shortcutOf("3", clusters), undefined);
  assert.equal(shortcutOf("7", map), undefined);
  assert.equal(shortcutOf("0", map), undefined);
  assert.equal(shortcutOf("Tab", map), undefined);
});

test("[PAGE8] Escape closes a story, and does nothing without one", () => {
  const story = { ...map, group: "storage-1" };
  assert.deepEqual(shortcutOf("Escape", story), { type: "go", route: map });
  assert.equal(shortcutOf("Escape", map), undefined);
});
