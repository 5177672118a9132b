// The bar of what can be restored. Rules: spec/page.md [PAGE15].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { windowBar } from "./backup-window.ts";

const window = { from: { atMs: 1_000 }, to: { atMs: 4_000 } };

test("[PAGE15] the bar reaches from the first moment that can be restored until now, and is filled up to the last", () => {
  const bar = {
    ...{ fromMs: 1_000, toMs: 4_000, lookMs: 5_000, share: 0.75, missingShare: 0.25 },
    ...{ lostMs: 1_000, lostMostMs: 1_000 },
  };
  assert.deepEqual(windowBar({ window }, 5_000), bar);
  const early = { lookMs: 4_000, share: 1, missingShare: 0, lostMs: 0, lostMostMs: 0 };
  assert.deepEqual(windowBar({ window }, 3_000), { ...bar, ...early }, "a clock that is behind");
});

test("[PAGE15] what came since the operator's last look is neither called restorable nor lost, but counted as what may be", () => {
  assert.deepEqual(windowBar({ window, lagSeconds: 1 }, 11_000), {
    ...{ fromMs: 1_000, toMs: 4_000, lookMs: 5_000, share: 0.3, missingShare: 0.1 },
    ...{ lostMs: 1_000, lostMostMs: 7_000 },
  });
});

test("[PAGE15] without times there is no bar", () => {
  assert.equal(windowBar({}, 5), undefined);
  assert.equal(windowBar({ window: { from: { version: 1 }, to: { atMs: 4 } } }, 5), undefined);
  assert.equal(windowBar({ window: { from: { atMs: 9 }, to: { atMs: 4 } } }, 5), undefined);
  assert.equal(windowBar({ window: { from: { atMs: 5 }, to: { atMs: 5 } } }, 5)?.share, 1);
});
