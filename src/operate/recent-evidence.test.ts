// Tests of which acts wait for a status that is more recent.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Action } from "../plan/action.ts";
import type { ClusterState } from "./cluster-state.ts";
import { onRecentEvidence } from "./recent-evidence.ts";

const removal = { type: "removeProcessGroups" } as unknown as Action;
const creation = { type: "createPod" } as unknown as Action;

function stateWith(observedMs: number, answeredMs: number) {
  const calls: string[] = [];
  const poller = {
    latest: { kind: "seen", observedMs, answeredMs },
    askNow: () => calls.push("ask"),
  };
  const state = { poller, postponedMs: undefined } as unknown as ClusterState;
  return { state, calls };
}

test("[OP67] a status that has just come is enough", () => {
  const { state, calls } = stateWith(1_000, 4_000);
  assert.deepEqual(onRecentEvidence(state, [creation, removal], 6_000), [creation, removal]);
  assert.deepEqual(calls, []);
});

test("[OP67] an older one is asked for again, and only what can be taken back is done", () => {
  const { state, calls } = stateWith(1_000, 4_000);
  assert.deepEqual(onRecentEvidence(state, [creation, removal], 6_001), [creation]);
  assert.deepEqual(onRecentEvidence(state, [creation], 6_001), [creation]);
  assert.deepEqual(calls, ["ask"]);
});

test("[OP67] the status that was asked for is enough, however late it is looked at", () => {
  const { state } = stateWith(1_000, 4_000);
  onRecentEvidence(state, [removal], 10_000);
  Object.assign(state.poller, { latest: { kind: "seen", observedMs: 10_000, answeredMs: 11_000 } });
  assert.deepEqual(onRecentEvidence(state, [removal], 60_000), [removal]);
  assert.deepEqual(onRecentEvidence(state, [removal], 60_000), []);
});

test("[OP67] without a status other rules decide", () => {
  const { state } = stateWith(0, 0);
  Object.assign(state.poller, { latest: { kind: "missing" } });
  assert.deepEqual(onRecentEvidence(state, [removal], 60_000), [removal]);
});
