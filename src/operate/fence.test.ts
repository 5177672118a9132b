// Writes of a leader whose term ends: to the API server and to the database.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient, AdminClientFactory } from "../fdb/admin.ts";
import { isFdbError } from "../fdb/error.ts";
import { isKubeError } from "../kube/error.ts";
import type { KubeRequest, KubeTransport } from "../kube/transport.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { fencedAdmin, fencedTransport } from "./fence.ts";

function bench() {
  const clock = new VirtualClock(0);
  const term = { endMs: 15_000, remainingMs: () => Math.max(0, term.endMs - clock.nowMs()) };
  const sent: KubeRequest[] = [];
  const hanging: KubeTransport = {
    request(request) {
      sent.push(request);
      return new Promise(() => {});
    },
    watch: () => Promise.resolve(),
  };
  return { clock, term, sent, transport: fencedTransport(hanging, clock, term) };
}

const write: KubeRequest = { method: "POST", path: "/api/v1/namespaces/default/pods" };

test("[RUN28] a write that hangs is given up when the term ends, not before", async () => {
  const { clock, term, sent, transport } = bench();
  const ends: string[] = [];
  const note = (error: unknown): void => void ends.push(String(isKubeError(error, "Aborted")));
  transport.request(write).catch(note);
  await clock.advance(14_000);
  term.endMs = 20_000;
  await clock.advance(5_999);
  assert.deepEqual(ends, [], "the term was renewed");
  await clock.advance(1);
  assert.deepEqual(ends, ["true"]);
  assert.equal(sent[0]?.signal?.aborted, true);
});

test("[RUN28] no write begins after the term; reading is free", async () => {
  const { clock, sent, transport } = bench();
  await clock.advance(15_000);
  await assert.rejects(transport.request(write), /our term as leader is over/);
  assert.equal(sent.length, 0);
  void transport.request({ method: "GET", path: "/version" });
  assert.equal(sent.length, 1);
});

test("[RUN28] what ends in time is as it was, and leaves no timer behind", async () => {
  const { clock, term } = bench();
  const answer = { status: 200, body: {} };
  const inner = { request: () => Promise.resolve(answer), watch: () => Promise.resolve() };
  assert.equal(await fencedTransport(inner, clock, term).request(write), answer);
  const { reason } = await clock.run({ until: () => false });
  assert.equal(reason, "stuck");
});

test("[RUN29] commands and transactions have no more time than the term has left", async () => {
  const { clock, term } = bench();
  const limits: string[] = [];
  const names = ["include", "kill", "changeCoordinators", "configure"] as const;
  const client: Partial<AdminClient> = {
    exclude: (_targets, { timeoutMs }) => Promise.resolve(void limits.push(`exclude ${timeoutMs}`)),
    transact: (_body, { timeoutMs }) => {
      limits.push(`transact ${timeoutMs}`);
      return Promise.resolve() as never;
    },
    status: (timeoutMs) => {
      limits.push(`status ${timeoutMs}`);
      return Promise.resolve({});
    },
    setMaintenanceZone: (_zone, _seconds, timeoutMs) =>
      Promise.resolve(void limits.push(`maintenance ${timeoutMs}`)),
    resetMaintenanceZone: (timeoutMs) => Promise.resolve(void limits.push(`reset ${timeoutMs}`)),
  };
  for (const name of names) {
    client[name] = (_first: unknown, timeoutMs: number) => {
      limits.push(`${name} ${timeoutMs}`);
      return Promise.resolve() as never;
    };
  }
  const factory = { open: () => client, isVersionSupported: () => true };
  const fenced = fencedAdmin(factory as unknown as AdminClientFactory, term);
  const admin = fenced.open({ name: "", connectionString: "", version: "" });
  const acts = [
    () => admin.include([], 10_000),
    () => admin.kill([], 10_000),
    () => admin.changeCoordinators([], 10_000),
    () => admin.configure("", 10_000),
    () => admin.exclude([], { wait: false, timeoutMs: 10_000 }),
    () => admin.transact(() => Promise.resolve(), { timeoutMs: 10_000 }),
    () => admin.setMaintenanceZone("", 1, 10_000),
    () => admin.resetMaintenanceZone(10_000),
  ];
  for (const act of acts) await act();
  assert.ok(limits.every((limit) => limit.endsWith(" 10000")) && limits.length === acts.length);
  await clock.advance(12_000);
  limits.length = 0;
  for (const act of acts) await act();
  assert.ok(limits.every((limit) => limit.endsWith(" 3000")) && limits.length === acts.length);
  await clock.advance(3_000);
  limits.length = 0;
  for (const act of acts) await assert.rejects(act(), (error) => isFdbError(error, 1025));
  await admin.status(20_000);
  assert.deepEqual(limits, ["status 20000"]);
});
