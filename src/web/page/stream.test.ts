// What becomes of events. Rules: spec/page.md [PAGE4].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PageModel, SessionModel } from "../view-model.ts";
import { afterEvent, isSilent, serverTimeMs } from "./stream.ts";

const session: SessionModel = {
  ...{ source: "live", where: "https://127.0.0.1", namespace: "", speed: 20, version: "1" },
  missing: [],
};
const model: PageModel = { session, clusters: {} };

test("[PAGE4] the whole replaces what was known, changes are applied to it, a tick only moves the time", () => {
  const first = afterEvent(undefined, { type: "model", atMs: 100, model }, 5);
  assert.deepEqual(first, { model, atMs: 100, heardMs: 5 });
  const changes = [{ at: ["session", "missing"], set: ["nodes"] }];
  const second = afterEvent(first, { type: "changes", atMs: 200, changes }, 6);
  assert.deepEqual(second?.model.session.missing, ["nodes"]);
  assert.equal(second?.model.clusters, model.clusters);
  const third = afterEvent(second, { type: "tick", atMs: 300 }, 7);
  assert.deepEqual(third, { model: second?.model, atMs: 300, heardMs: 7 });
});

test("[PAGE4] changes that do not fit ask for the whole again", () => {
  assert.equal(afterEvent(undefined, { type: "tick", atMs: 1 }, 1), undefined);
  const known = { model, atMs: 1, heardMs: 1 };
  const changes = [{ at: ["cluster", "map", "total"], set: 3 }];
  assert.equal(afterEvent(known, { type: "changes", atMs: 2, changes }, 2), undefined);
});

test("[PAGE4] the time of the API server goes on as fast as it does there, and stands still in a file", () => {
  assert.equal(serverTimeMs({ model, atMs: 1_000, heardMs: 10 }, 15), 1_100);
  assert.equal(serverTimeMs({ model, atMs: 1_000, heardMs: 10 }, 5), 1_000);
  const file: PageModel = { ...model, session: { ...session, source: "file" } };
  assert.equal(serverTimeMs({ model: file, atMs: 1_000, heardMs: 10 }, 99), 1_000);
});

test("[PAGE4] a stream that says nothing for 40 seconds counts as lost", () => {
  const known = { model, atMs: 1, heardMs: 1_000 };
  assert.equal(isSilent(known, 41_000), false);
  assert.equal(isSilent(known, 41_001), true);
  assert.equal(isSilent(undefined, 99_999), false);
});
