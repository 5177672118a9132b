// The cache against events, lists and answers in every order.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededRandom } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { KubeClient } from "./client.ts";
import { ObjectCache } from "./object-cache.ts";
import type { KubeObject, ObjectMeta } from "./object.ts";
import { Reflector } from "./reflector.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { configMaps } from "./resource.ts";
import { ScriptedTransport, listAnswer } from "../../test/fixtures/scripted-transport.ts";

function objectOf(name: string, version: number, more: ObjectMeta = {}): KubeObject {
  const metadata = {
    namespace: "db",
    name,
    uid: `uid-${name}`,
    resourceVersion: `${version}`,
    ...more,
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const key = { namespace: "db", name: "a" };

function held(cache: ObjectCache<KubeObject>): string | undefined {
  return cache.get(key)?.metadata.resourceVersion;
}

test("[KUBE21] versions are ordered as numbers of any length", () => {
  const versions = ["9", "10", "99", "18446744073709551615", "18446744073709551616"];
  for (let index = 1; index < versions.length; index += 1) {
    assert.ok(compareResourceVersions(versions[index - 1], versions[index]) < 0);
    assert.ok(compareResourceVersions(versions[index], versions[index - 1]) > 0);
  }
  assert.ok(compareResourceVersions(undefined, "1") < 0);
  assert.equal(compareResourceVersions("7", "7"), 0);
});

test("[KUBE22] our own write is read at once, and its later event changes nothing", () => {
  const cache = new ObjectCache<KubeObject>();
  const changes: string[] = [];
  cache.onChange((event) => changes.push(`${event.type} ${event.object.metadata.resourceVersion}`));
  cache.replace([objectOf("a", 3)], "10");
  cache.observeWrite(objectOf("a", 12));
  assert.equal(held(cache), "12");
  cache.applyPresent(objectOf("a", 11));
  cache.applyPresent(objectOf("a", 12));
  assert.deepEqual(changes, ["ADDED 3", "MODIFIED 12"]);
});

test("[KUBE23] a late answer to our own write does not bring back what was deleted since", () => {
  const cache = new ObjectCache<KubeObject>();
  cache.replace([], "10");
  cache.applyPresent(objectOf("a", 11));
  cache.applyDeleted(objectOf("a", 12));
  cache.observeWrite(objectOf("a", 11));
  assert.equal(held(cache), undefined);
});

test("[KUBE24] our own delete is seen at once, and events of before do not bring the object back", () => {
  const cache = new ObjectCache<KubeObject>();
  cache.replace([objectOf("a", 3)], "10");
  const deleted = cache.get(key);
  assert.ok(deleted);
  cache.observeDelete(deleted, undefined);
  assert.equal(held(cache), undefined);
  cache.applyPresent(objectOf("a", 11));
  cache.replace([objectOf("a", 11)], "11");
  assert.equal(held(cache), undefined);
  cache.applyDeleted(objectOf("a", 12));
  cache.applyPresent(objectOf("a", 13, { uid: "another" }));
  assert.equal(held(cache), "13");
});

test("[KUBE24] a delete that waits for grace or finalizers keeps the object in its new state", () => {
  for (const waiting of [
    { finalizers: ["keep"], deletionGracePeriodSeconds: 0 },
    { deletionGracePeriodSeconds: 30 },
  ]) {
    const cache = new ObjectCache<KubeObject>();
    cache.replace([objectOf("a", 3)], "10");
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const answer = objectOf("a", 11, { deletionTimestamp, ...waiting });
    cache.observeDelete(objectOf("a", 3), answer);
    assert.equal(held(cache), "11");
  }
});

test("[KUBE25] a list removes what it does not hold, but not what we wrote after it", () => {
  const cache = new ObjectCache<KubeObject>();
  cache.replace([objectOf("a", 3), objectOf("b", 4)], "10");
  cache.observeWrite(objectOf("c", 25));
  cache.replace([objectOf("a", 3)], "20");
  assert.deepEqual(
    cache.list().map((object) => object.metadata.name),
    ["a", "c"],
  );
});

test("[KUBE25] whatever way events, lists and own writes mix, the end is the server's state", () => {
  // The server's history is a list of states of one object; the cache gets its events in order, our own
  // writes at any later time, and lists of the present in between.
  const action = fc.record({
    isPresent: fc.boolean(),
    isOurs: fc.boolean(),
    answerDelay: fc.integer({ min: 0, max: 4 }),
    listsAfter: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(action, { minLength: 1, maxLength: 20 }), (history) => {
      const cache = new ObjectCache<KubeObject>();
      cache.replace([], "0");
      const answers: { at: number; object: KubeObject }[] = [];
      let present: KubeObject | undefined;
      history.forEach((step, index) => {
        const object = objectOf("a", index + 1);
        if (step.isPresent && step.isOurs) answers.push({ at: index + step.answerDelay, object });
        if (step.isPresent) cache.applyPresent(object);
        else if (present !== undefined) cache.applyDeleted(object);
        else cache.advance(String(index + 1));
        present = step.isPresent ? object : undefined;
        if (step.listsAfter)
          cache.replace(present === undefined ? [] : [present], String(index + 1));
        for (const answer of answers) if (answer.at === index) cache.observeWrite(answer.object);
        assert.equal(held(cache), present?.metadata.resourceVersion);
      });
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("[KUBE38] waitFor resolves when the copy has seen a version, and gives up after its time", async () => {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(() => listAnswer([], "10"));
  const client = new KubeClient(transport, { userAgent: "test" });
  const reflector = new Reflector({ client, resource: configMaps, clock, random: seededRandom(1) });
  const stop = new AbortController();
  const running = reflector.start(stop.signal);
  await clock.advance(0);
  const outcomes: string[] = [];
  const wait = (name: string, version: string, timeoutMs: number): void => {
    void reflector
      .waitFor(key, version, timeoutMs)
      .then((isSeen) => outcomes.push(`${name} ${isSeen}`));
  };
  wait("passed", "9", 1000);
  wait("written", "12", 1000);
  wait("other", "14", 1000);
  wait("never", "99", 1000);
  await clock.advance(1);
  reflector.observeWrite(objectOf("a", 12));
  await clock.advance(1);
  transport.lastWatch.send("ADDED", objectOf("b", 14));
  await clock.advance(2000);
  assert.deepEqual(outcomes, ["passed true", "written true", "other true", "never false"]);
  stop.abort();
  await running;
});
