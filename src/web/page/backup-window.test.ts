// The bar of what can be restored. Rules: spec/page.md [PAGE15].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { windowBar } from "./backup-window.ts";

test("[PAGE15] the bar reaches from the first moment that can be restored until now, and is filled up to the last", () => {
  const window = { from: { atMs: 1_000 }, to: { atMs: 4_000 } };
  const bar = { fromMs: 1_000, toMs: 4_000, lookMs: 5_000, share: 0.75, lostMs: 1_000 };
  assert.deepEqual(windowBar({ window }, 5_000), bar);
  assert.deepEqual(windowBar({ window }, 3_000), { ...bar, lookMs: 4_000, share: 1, lostMs: 0 });
});

test("[PAGE15] it ends where the operator looked last, however long ago that was", () => {
  const window = { from: { atMs: 1_000 }, to: { atMs: 4_000 } };
  const bar = { fromMs: 1_000, toMs: 4_000, lookMs: 5_000, share: 0.75, lostMs: 1_000 };
  assert.deepEqual(windowBar({ window, lagSeconds: 1 }, 400_000), bar);
});

test("[PAGE15] without times there is no bar", () => {
  assert.equal(windowBar({}, 5), undefined);
  assert.equal(windowBar({ window: { from: { version: 1 }, to: { atMs: 4 } } }, 5), undefined);
  assert.equal(windowBar({ window: { from: { atMs: 9 }, to: { atMs: 4 } } }, 5), undefined);
  assert.equal(windowBar({ window: { from: { atMs: 5 }, to: { atMs: 5 } } }, 5)?.share, 1);
});
