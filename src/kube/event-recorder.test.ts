// Events: their form, their counting and their limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { KubeClient } from "./client.ts";
import { EventRecorder } from "./event-recorder.ts";
import type { EventRecorderOptions } from "./event-recorder.ts";
import type { Event } from "./generated/types.ts";
import { ScriptedTransport, statusAnswer } from "../../test/fixtures/scripted-transport.ts";
import type { AnswerHandler } from "../../test/fixtures/scripted-transport.ts";

const cluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { namespace: "db", name: "sample", uid: "u1", resourceVersion: "5" },
};

function worldOf(options: Partial<EventRecorderOptions> = {}, ...answers: AnswerHandler[]) {
  const clock = new VirtualClock();
  const accept: AnswerHandler = (request) => ({ status: 200, body: request.body });
  const transport = new ScriptedTransport(...answers, accept);
  const recorder = new EventRecorder({
    client: new KubeClient(transport, { userAgent: "test" }),
    clock,
    random: seededRandom(1),
    component: "foundationdb-operator",
    ...options,
  });
  const calls = () =>
    transport.requests.map((request) => `${request.method} ${(request.body as Event).count}`);
  return { clock, transport, recorder, calls };
}

test("[KUBE50] an event names its object, who reports it, and when", async () => {
  const { transport, recorder } = worldOf();
  recorder.record(cluster, "Warning", "Broken", "it broke");
  await recorder.flush();
  const [request] = transport.requests;
  assert.ok(request !== undefined);
  const { metadata, ...rest } = request.body as Event;
  assert.equal(request.path, "/api/v1/namespaces/db/events");
  assert.match(metadata.name ?? "", /^sample\.[0-9a-f]{16}$/);
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      namespace: "db",
      name: "sample",
      uid: "u1",
      resourceVersion: "5",
    },
    type: "Warning",
    reason: "Broken",
    message: "it broke",
    count: 1,
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    source: { component: "foundationdb-operator" },
    reportingComponent: "foundationdb-operator",
    reportingInstance: "",
  });
});

test("[KUBE51] equal events within a while are one event with a count", async () => {
  const { clock, transport, recorder, calls } = worldOf();
  recorder.record(cluster, "Normal", "Waits", "for pods");
  recorder.record(cluster, "Normal", "Waits", "for pods");
  await recorder.flush();
  await clock.advance(60_000);
  recorder.record(cluster, "Normal", "Waits", "for pods");
  recorder.record(cluster, "Normal", "Waits", "for volumes");
  await recorder.flush();
  assert.deepEqual(calls(), ["POST 2", "PATCH 3", "POST 1"]);
  assert.deepEqual(transport.requests[1]?.body, {
    count: 3,
    lastTimestamp: "2026-01-01T00:01:00Z",
  });
  await clock.advance(601_000);
  recorder.record(cluster, "Normal", "Waits", "for pods");
  await recorder.flush();
  assert.equal(calls().at(-1), "POST 1");
});

test("[KUBE52] an event that the server has forgotten is written anew", async () => {
  const { recorder, calls } = worldOf(
    {},
    (request) => ({ status: 201, body: request.body }),
    () => statusAnswer(404, "NotFound", "expired"),
  );
  for (let turn = 0; turn < 3; turn += 1) {
    recorder.record(cluster, "Normal", "Waits", "for pods");
    await recorder.flush();
  }
  assert.deepEqual(calls(), ["POST 1", "PATCH 2", "POST 2", "PATCH 3"]);
});

test("[KUBE53] each object has a budget that refills with time", async () => {
  const { clock, recorder, transport } = worldOf({ burst: 2, earnMs: 1000 });
  const other = { ...cluster, metadata: { ...cluster.metadata, name: "other" } };
  for (let index = 0; index < 5; index += 1) {
    recorder.record(cluster, "Normal", "Change", `number ${index}`);
  }
  recorder.record(other, "Normal", "Change", "mine");
  await recorder.flush();
  assert.equal(transport.requests.length, 3);
  assert.equal(recorder.dropped, 3);
  await clock.advance(1000);
  recorder.record(cluster, "Normal", "Change", "later");
  await recorder.flush();
  assert.equal(transport.requests.length, 4);
});

test("[KUBE54] a refusal or a broken connection never reaches the caller", async () => {
  const { recorder } = worldOf(
    {},
    () => statusAnswer(403, "Forbidden", "no"),
    () => Promise.reject(new Error("broken")),
  );
  recorder.record(cluster, "Normal", "One", "one");
  recorder.record(cluster, "Normal", "Two", "two");
  recorder.record(cluster, "Normal", "Three", "three");
  await recorder.flush();
  assert.equal(recorder.dropped, 2);
});

test("[KUBE55] what is remembered and what waits is bounded, and so is a message", async () => {
  const { recorder, transport } = worldOf({ capacity: 10, burst: 1000 });
  for (let index = 0; index < 50; index += 1) {
    recorder.record(cluster, "Normal", "Many", `${index} ${"x".repeat(5000)}`);
  }
  await recorder.flush();
  assert.equal(transport.requests.length, 10);
  assert.equal(recorder.dropped, 40);
  assert.equal((transport.requests[0]?.body as Event | undefined)?.message?.length, 1024);
});
