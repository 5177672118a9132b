// The network between pods: ports, names, services and faults.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PodUnreachableError } from "../pod/network.ts";
import type { PodRequest } from "../pod/network.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { createPodNetwork } from "./pod-network.ts";

const request: PodRequest = {
  host: "10.1.0.1",
  port: 8080,
  useTls: false,
  method: "GET",
  path: "ready",
  timeoutMs: 5000,
};
const answer = (method: string, path: string) => ({ status: 200, body: `${method} ${path}` });

test("[KUBELET24] an open port answers, once only, until it is closed", async () => {
  const network = createPodNetwork();
  await assert.rejects(network.request(request), PodUnreachableError);
  const close = network.listen("10.1.0.1", 8080, false, answer);
  assert.equal(network.listen("10.1.0.1", 8080, false, answer), undefined);
  assert.deepEqual(await network.request(request), { status: 200, body: "GET ready" });
  await assert.rejects(network.request({ ...request, useTls: true }), PodUnreachableError);
  assert.equal(network.isListening("10.1.0.1", 8080), true);
  close?.();
  assert.equal(network.isListening("10.1.0.1", 8080), false);
});

test("[W120] names keep their old addresses for as long as told", async () => {
  const clock = new VirtualClock(0);
  const network = createPodNetwork(clock);
  const seen = (): (string | undefined)[] => ["a", "b"].map((name) => network.resolve(name));
  network.setHostName("a", ["10.1.0.1"]);
  network.nameLagMs = 1_000;
  network.setHostName("a", []);
  await clock.advance(600);
  network.setHostName("a", ["10.1.0.2"]);
  network.setHostName("b", ["10.1.0.3"]);
  await clock.advance(600);
  assert.deepEqual(seen(), ["10.1.0.1", undefined]);
  await clock.advance(600);
  assert.deepEqual(seen(), ["10.1.0.2", "10.1.0.3"]);
  network.setHostName("b", []);
  network.nameLagMs = 0;
  network.setHostName("b", ["10.1.0.4"]);
  await clock.advance(2_000);
  assert.deepEqual(seen(), ["10.1.0.2", "10.1.0.4"]);
});

test("[KUBELET25] names and service addresses lead to pods", async () => {
  const network = createPodNetwork();
  network.listen("10.1.0.1", 8080, false, answer);
  network.setHostName("a.b.ns.svc.cluster.local", ["10.1.0.1", "fd00::1"]);
  assert.equal(network.resolve("a.b.ns.svc.cluster.local."), "10.1.0.1");
  network.setHostName("a.b.ns.svc.cluster.local", []);
  assert.equal(network.resolve("a.b.ns.svc.cluster.local"), undefined);
  network.setService("10.96.0.1", ["10.1.0.1"]);
  assert.equal((await network.request({ ...request, host: "10.96.0.1" })).status, 200);
  assert.equal(network.route("10.96.0.1"), "10.1.0.1");
  assert.equal(network.route("10.1.0.1"), "10.1.0.1");
});

test("[KUBELET26] a cut address answers nobody, and the caller waits for its time limit", async () => {
  const clock = new VirtualClock();
  const network = createPodNetwork(clock);
  network.listen("10.1.0.1", 8080, false, answer);
  const changes: boolean[] = [];
  network.onChange("10.1.0.1", () => changes.push(network.isCut("10.1.0.1")));
  network.cut("10.1.0.1");
  const startedAtMs = clock.nowMs();
  let failedAtMs = 0;
  const failed = network.request(request).catch(() => (failedAtMs = clock.nowMs()));
  await clock.run();
  await failed;
  assert.equal(failedAtMs - startedAtMs, 5000);
  network.heal("10.1.0.1");
  const healed = network.request(request);
  await clock.run();
  assert.equal((await healed).status, 200);
  assert.deepEqual(changes, [true, false]);
});
