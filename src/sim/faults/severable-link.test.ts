// Links that are slow or cut, with the time that a caller spends on them.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sleep } from "../../env/clock.ts";
import type { AdminClient, AdminClientFactory } from "../../fdb/admin.ts";
import type { KubeTransport } from "../../kube/transport.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { SeverableLink } from "./severable-link.ts";

const get = { method: "GET", path: "/" } as const;

interface Ended {
  outcome: string;
  atMs: number;
}

/** What becomes of a call, once the clock has run for a minute. */
function noted(clock: VirtualClock, call: Promise<unknown>): Ended {
  const ended: Ended = { outcome: "open", atMs: -1 };
  const note = (outcome: string) => (): void => {
    Object.assign(ended, { outcome, atMs: clock.nowMs() });
  };
  call.then(note("answered"), note("failed"));
  return ended;
}

function scene() {
  const clock = new VirtualClock(0);
  const link = new SeverableLink(clock);
  const carriedOut: number[] = [];
  const transport: KubeTransport = {
    request: async () => {
      carriedOut.push(clock.nowMs());
      await sleep(clock, 1_000);
      return { status: 200, body: {} };
    },
    watch: (request) =>
      new Promise((resolve) => {
        request.signal?.addEventListener("abort", () => resolve(), { once: true });
      }),
  };
  const client = {
    kill: async () => {
      carriedOut.push(clock.nowMs());
      await sleep(clock, 1_000);
    },
  } as unknown as AdminClient;
  const admin: AdminClientFactory = {
    open: () => client,
    isVersionSupported: () => true,
    installedVersions: () => [],
  };
  const options = { name: "", connectionString: "", version: "" };
  const opened = link.admin(admin).open(options);
  return { clock, link, carriedOut, transport: link.transport(transport), admin: opened };
}

test("[MU6] a cut link carries nothing out and answers nothing until it is restored", async () => {
  const { clock, link, carriedOut, transport, admin } = scene();
  link.cut();
  const request = noted(clock, transport.request(get));
  const kill = noted(clock, admin.kill([], 5_000));
  const watch = noted(
    clock,
    transport.watch(get, () => {}),
  );
  await clock.advance(60_000);
  assert.deepEqual(carriedOut, []);
  assert.deepEqual(request, { outcome: "failed", atMs: 10_000 });
  assert.deepEqual(kill, { outcome: "failed", atMs: 5_000 });
  assert.deepEqual(watch, { outcome: "failed", atMs: 10_000 });
  link.restore();
  const again = noted(clock, transport.request(get));
  await clock.advance(60_000);
  assert.deepEqual(again, { outcome: "answered", atMs: 61_000 });
});

test("[MU6] what is under way when a link is cut may be carried out, without an answer", async () => {
  const { clock, link, carriedOut, transport, admin } = scene();
  const kill = noted(clock, admin.kill([], 5_000));
  const watch = noted(
    clock,
    transport.watch(get, () => {}),
  );
  await clock.advance(500);
  link.cut();
  link.restore();
  await clock.advance(60_000);
  assert.deepEqual(carriedOut, [0]);
  assert.deepEqual(kill, { outcome: "failed", atMs: 5_000 });
  assert.deepEqual(watch, { outcome: "failed", atMs: 500 });
});

test("[MU6] a watch that its owner ends does not fail", async () => {
  const { clock, transport } = scene();
  const ending = new AbortController();
  const watch = noted(
    clock,
    transport.watch({ ...get, signal: ending.signal }, () => {}),
  );
  await clock.advance(500);
  ending.abort();
  await clock.advance(500);
  assert.equal(watch.outcome, "answered");
});

test("[MU7] a slow link delays both ways, and an answer after its time is none", async () => {
  const { clock, link, carriedOut, admin } = scene();
  link.delayMs = 4_000;
  const late = noted(clock, admin.kill([], 4_500));
  const inTime = noted(clock, admin.kill([], 6_000));
  await clock.advance(60_000);
  assert.deepEqual(carriedOut, [2_000, 2_000]);
  assert.equal(late.outcome, "failed");
  assert.deepEqual(inTime, { outcome: "answered", atMs: 5_000 });
});
