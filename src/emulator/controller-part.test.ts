// Work by key: one run at a time, and another try after a failure.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../env/log.ts";
import { seededRandom } from "../env/random.ts";
import { KubeClient } from "../kube/client.ts";
import { ScriptedTransport } from "../../test/fixtures/scripted-transport.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { KeyedWork } from "./controller-part.ts";
import { Informers } from "./node-informers.ts";

function parts(clock: VirtualClock, signal: AbortSignal) {
  const client = new KubeClient(new ScriptedTransport(), { userAgent: "test" });
  const base = { client, clock, random: seededRandom(1), log: silentLog, signal };
  return { ...base, informers: new Informers(base) };
}

test("[KUBELET50] a key never runs twice at once, and changes meanwhile cause one more run", async () => {
  const clock = new VirtualClock();
  let active = 0;
  let runs = 0;
  const work = new KeyedWork(parts(clock, new AbortController().signal), "test", 10, async () => {
    active += 1;
    assert.equal(active, 1);
    runs += 1;
    await new Promise<void>((resolve) => clock.setTimer(100, resolve));
    active -= 1;
  });
  work.add("a");
  work.add("a");
  await clock.advance(50);
  work.add("a");
  work.add("a");
  await clock.run();
  assert.equal(runs, 2);
});

test("[KUBELET50] failed work is tried again after a second, until it is told to stop", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const at: number[] = [];
  const startMs = clock.nowMs();
  const work = new KeyedWork(parts(clock, stop.signal), "test", 0, () => {
    at.push(clock.nowMs() - startMs);
    return at.length < 3 ? Promise.reject(new Error("not yet")) : Promise.resolve();
  });
  work.add("a");
  await clock.run();
  assert.deepEqual(at, [0, 1000, 2000]);
  work.add("a");
  stop.abort();
  work.add("b");
  await clock.run();
  assert.equal(at.length, 3);
});
