// The reflector against a scripted server: cuts, forgotten history, silence, stale lists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { KubeClient } from "./client.ts";
import { KubeError } from "./error.ts";
import type { Pod } from "./generated/types.ts";
import { Reflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector.ts";
import { pods } from "./resource.ts";
import type { Stored } from "./resource.ts";
import {
  ScriptedTransport,
  listAnswer,
  statusAnswer,
} from "../../test/fixtures/scripted-transport.ts";
import type { AnswerHandler } from "../../test/fixtures/scripted-transport.ts";

type StoredPod = Stored<Pod>;

function pod(name: string, resourceVersion: string, extra: { uid?: string; node?: string } = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "db", name, resourceVersion, uid: extra.uid ?? `uid-${name}` },
    spec: { containers: [], nodeName: extra.node },
  } satisfies StoredPod;
}

const historyGone = new KubeError(410, "Expired", "too old resource version");

function worldOf(answers: AnswerHandler[], options: Partial<ReflectorOptions<StoredPod>> = {}) {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(...answers);
  const reflector = new Reflector<StoredPod>({
    client: new KubeClient(transport, { userAgent: "test" }),
    resource: pods,
    clock,
    random: seededRandom(1),
    ...options,
  });
  const changes: string[] = [];
  reflector.onChange(({ type, object, old }) => {
    const { name, resourceVersion } = object.metadata;
    changes.push(`${type} ${name}@${resourceVersion} was ${old?.metadata.resourceVersion}`);
  });
  const stop = new AbortController();
  const running = reflector.start(stop.signal);
  return { clock, transport, reflector, changes, stop, running };
}

function names(reflector: Reflector<StoredPod>): string[] {
  return reflector
    .list()
    .map((held) => `${held.metadata.name}@${held.metadata.resourceVersion}`)
    .toSorted();
}

test("[KUBE26] the first list is read in pages, then watched from its version with bookmarks", async () => {
  const { clock, transport, reflector, changes } = worldOf(
    [() => listAnswer([pod("a", "3")], "10", "next"), () => listAnswer([pod("b", "7")], "10")],
    { pageSize: 1, namespace: "db", labelSelector: "x=y" },
  );
  assert.equal(reflector.hasSynced, false);
  await clock.advance(0);
  await reflector.synced;
  assert.equal(reflector.hasSynced, true);
  assert.deepEqual(changes, ["ADDED a@3 was undefined", "ADDED b@7 was undefined"]);
  const { path, query } = transport.lastWatch.request;
  assert.equal(path, "/api/v1/namespaces/db/pods");
  const { timeoutSeconds, ...rest } = query ?? {};
  assert.deepEqual(rest, {
    labelSelector: "x=y",
    watch: "true",
    resourceVersion: "10",
    allowWatchBookmarks: "true",
  });
  assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600);
});

test("[KUBE27] events change the copy and reach listeners with the old state", async () => {
  const { clock, transport, reflector, changes } = worldOf([
    () => listAnswer([pod("a", "3")], "10"),
  ]);
  await clock.advance(0);
  transport.lastWatch.send("ADDED", pod("b", "11"));
  transport.lastWatch.send("MODIFIED", pod("a", "12"));
  transport.lastWatch.send("DELETED", pod("b", "13"));
  assert.deepEqual(changes.slice(1), [
    "ADDED b@11 was undefined",
    "MODIFIED a@12 was 3",
    "DELETED b@13 was 11",
  ]);
  assert.deepEqual(names(reflector), ["a@12"]);
  const late: string[] = [];
  const unsubscribe = reflector.onChange(({ type, object }) =>
    late.push(`${type} ${object.metadata.name}`),
  );
  unsubscribe();
  transport.lastWatch.send("ADDED", pod("c", "14"));
  assert.deepEqual(late, ["ADDED a"]);
});

test("[KUBE28] after a cut the watch goes on where it was, bookmarks counted", async () => {
  const { clock, transport, changes } = worldOf([() => listAnswer([], "10")]);
  await clock.advance(0);
  transport.lastWatch.send("ADDED", pod("a", "11"));
  transport.lastWatch.send("BOOKMARK", { kind: "Pod", metadata: { resourceVersion: "20" } });
  transport.lastWatch.fail(new KubeError(0, "Unreachable", "cut"));
  await clock.advance(1000);
  assert.equal(transport.lastWatch.request.query?.["resourceVersion"], "20");
  transport.lastWatch.send("MODIFIED", pod("a", "21"));
  transport.lastWatch.end();
  await clock.advance(0);
  assert.equal(transport.lastWatch.request.query?.["resourceVersion"], "21");
  assert.equal(transport.requests.length, 1);
  assert.deepEqual(changes, ["ADDED a@11 was undefined", "MODIFIED a@21 was 11"]);
});

for (const [form, forget] of [
  [
    "as an ERROR event",
    (transport: ScriptedTransport) =>
      transport.lastWatch.send("ERROR", statusAnswer(410, "Expired", "too old").body),
  ],
  [
    "as a refusal",
    (transport: ScriptedTransport) => {
      transport.watchRefusals.push(historyGone);
      transport.lastWatch.end();
    },
  ],
] as const) {
  test(`[KUBE29] a forgotten history ${form} leads to a new list that shows what was deleted`, async () => {
    const { clock, transport, reflector, changes } = worldOf([
      () => listAnswer([pod("a", "3"), pod("b", "4")], "10"),
      () => listAnswer([pod("b", "4"), pod("c", "15")], "30"),
    ]);
    await clock.advance(0);
    transport.lastWatch.send("BOOKMARK", { metadata: { resourceVersion: "11" } });
    forget(transport);
    await clock.advance(2000);
    assert.deepEqual(changes.slice(2), ["DELETED a@3 was 3", "ADDED c@15 was undefined"]);
    assert.deepEqual(names(reflector), ["b@4", "c@15"]);
    assert.equal(transport.lastWatch.request.query?.["resourceVersion"], "30");
  });
}

test("[KUBE30] pauses grow with failures in a row, are jittered, and end with the first event", async () => {
  const { clock, transport } = worldOf([() => listAnswer([], "10")]);
  await clock.advance(0);
  const openings: number[] = [];
  for (let failure = 0; failure < 9; failure += 1) {
    const opened = transport.watches.length;
    const cutAtMs = clock.nowMs();
    transport.lastWatch.fail(new KubeError(0, "Unreachable", "cut"));
    await clock.run({ until: () => transport.watches.length > opened });
    openings.push(clock.nowMs() - cutAtMs);
  }
  openings.forEach((pauseMs, index) => {
    const fullMs = Math.min(10_000, 500 * 2 ** index);
    assert.ok(pauseMs >= fullMs / 2 && pauseMs <= fullMs, `pause ${index}: ${pauseMs}`);
  });
  transport.lastWatch.send("BOOKMARK", { metadata: { resourceVersion: "11" } });
  transport.lastWatch.fail(new KubeError(0, "Unreachable", "cut"));
  const opened = transport.watches.length;
  const cutAtMs = clock.nowMs();
  await clock.run({ until: () => transport.watches.length > opened });
  assert.ok(clock.nowMs() - cutAtMs <= 500);
});

test("[KUBE31] the pause that the server asks for is kept", async () => {
  const { clock, transport } = worldOf([
    () => statusAnswer(429, "TooManyRequests", "busy", { retryAfterSeconds: 20 }),
    () => listAnswer([], "10"),
  ]);
  await clock.advance(19_999);
  assert.equal(transport.requests.length, 1);
  await clock.advance(1);
  assert.equal(transport.watches.length, 1);
});

test("[KUBE32] the copy never goes back: older events and older lists are not taken over", async () => {
  const { clock, transport, reflector, changes } = worldOf([
    () => listAnswer([pod("a", "9")], "10"),
    () => listAnswer([pod("a", "5")], "8"),
    () => listAnswer([pod("a", "12")], "20"),
  ]);
  await clock.advance(0);
  transport.lastWatch.send("MODIFIED", pod("a", "8"));
  transport.lastWatch.send("DELETED", pod("a", "7"));
  assert.deepEqual(names(reflector), ["a@9"]);
  transport.lastWatch.send("ERROR", statusAnswer(410, "Expired", "too old").body);
  await clock.advance(5000);
  assert.deepEqual(changes, ["ADDED a@9 was undefined", "MODIFIED a@12 was 9"]);
  assert.equal(transport.requests.length, 3);
});

test("[KUBE32] older lists now and then are not taken for a new history", async () => {
  const older = () => listAnswer([], "8");
  const newer = () => listAnswer([pod("a", "9")], "10");
  const { clock, transport, reflector } = worldOf([
    newer,
    older,
    older,
    newer,
    older,
    older,
    newer,
  ]);
  await clock.advance(0);
  for (let turn = 0; turn < 2; turn += 1) {
    transport.lastWatch.send("ERROR", statusAnswer(410, "Expired", "too old").body);
    await clock.advance(20_000);
  }
  assert.equal(transport.requests.length, 7);
  assert.deepEqual(names(reflector), ["a@9"]);
});

test("[KUBE33] a server that keeps answering with an older history has been restored: it is believed", async () => {
  const old = () => listAnswer([pod("a", "5")], "8");
  const { clock, transport, reflector } = worldOf([
    () => listAnswer([pod("a", "90"), pod("b", "91")], "100"),
    old,
  ]);
  await clock.advance(0);
  transport.lastWatch.send("ERROR", statusAnswer(410, "Expired", "too old").body);
  await clock.advance(10_000);
  assert.equal(transport.requests.length, 4);
  assert.deepEqual(names(reflector), ["a@5"]);
  assert.equal(transport.lastWatch.request.query?.["resourceVersion"], "8");
});

test("[KUBE34] a watch that falls silent is cut, and one that ends at once is not opened in a loop", async () => {
  const { clock, transport, reflector } = worldOf([() => listAnswer([], "10")], {
    watchSeconds: 60,
  });
  await clock.advance(0);
  await clock.advance(151_000);
  assert.ok(transport.watches.length >= 2);
  const opened = transport.watches.length;
  for (let turn = 0; turn < 20; turn += 1) {
    transport.lastWatch.end();
    await clock.advance(100);
  }
  assert.ok(transport.watches.length - opened <= 4, `${transport.watches.length - opened}`);
  // An orderly end of a watch is a word of the server too.
  assert.equal(reflector.contactAtMs, clock.nowMs() - 2_000);
});

test("[KUBE35] cached objects are frozen, and found by their indexes", async () => {
  const { clock, transport, reflector } = worldOf(
    [() => listAnswer([pod("a", "3", { node: "n1" })], "10")],
    {
      indexes: { node: (held) => (held.spec?.nodeName === undefined ? [] : [held.spec.nodeName]) },
    },
  );
  await clock.advance(0);
  const [held] = reflector.byIndex("node", "n1");
  assert.ok(held !== undefined && Object.isFrozen(held) && Object.isFrozen(held.metadata));
  transport.lastWatch.send("MODIFIED", pod("a", "11", { node: "n2" }));
  transport.lastWatch.send("ADDED", pod("b", "12", { node: "n2" }));
  transport.lastWatch.send("ADDED", pod("c", "13"));
  assert.deepEqual(reflector.byIndex("node", "n1"), []);
  assert.equal(reflector.byIndex("node", "n2").length, 2);
  assert.throws(() => reflector.byIndex("zone", "z"), /no index/);
});

test("[KUBE36] stopping ends the watch and the reflector, also during a pause", async () => {
  const watching = worldOf([() => listAnswer([], "10")]);
  await watching.clock.advance(0);
  watching.stop.abort();
  await watching.running;
  const pausing = worldOf([() => statusAnswer(500, "InternalError", "broken")]);
  await pausing.clock.advance(0);
  pausing.stop.abort();
  await pausing.running;
  assert.equal(pausing.clock.pendingTimers, 0);
  assert.equal(watching.clock.pendingTimers, 0);
});

test("[KUBE37] a listener that throws harms neither the other listeners nor the copy", async () => {
  const { clock, transport, reflector, changes } = worldOf([() => listAnswer([], "10")]);
  reflector.onChange(() => {
    throw new Error("broken listener");
  });
  const seen: string[] = [];
  reflector.onChange(({ object }) => seen.push(object.metadata.name ?? ""));
  await clock.advance(0);
  transport.lastWatch.send("ADDED", pod("a", "11"));
  transport.lastWatch.send("ADDED", { no: "metadata" });
  await clock.advance(1000);
  transport.lastWatch.send("ADDED", pod("b", "12"));
  assert.deepEqual(seen, ["a", "b"]);
  assert.equal(changes.length, 2);
  assert.deepEqual(names(reflector), ["a@11", "b@12"]);
});

test("[KUBE82] what concerns nobody is never kept, and what stops to concern us is gone for us", async () => {
  const { clock, transport, reflector, changes } = worldOf(
    [() => listAnswer([pod("ours", "3", { node: "n1" }), pod("foreign", "4")], "10")],
    { keeps: (held) => held.spec?.nodeName !== undefined },
  );
  await clock.advance(0);
  assert.deepEqual(names(reflector), ["ours@3"]);
  transport.lastWatch.send("ADDED", pod("other", "11"));
  transport.lastWatch.send("MODIFIED", pod("ours", "12"));
  assert.deepEqual(names(reflector), []);
  assert.equal(reflector.resourceVersion, "12");
  transport.lastWatch.send("MODIFIED", pod("ours", "13", { node: "n2" }));
  assert.deepEqual(names(reflector), ["ours@13"]);
  assert.deepEqual(changes, [
    "ADDED ours@3 was undefined",
    "DELETED ours@12 was 3",
    "ADDED ours@13 was undefined",
  ]);
});

test("[KUBE34] a stream without a word for longer than bookmarks take is opened anew where it was", async () => {
  const { clock, transport } = worldOf([() => listAnswer([], "10")], { watchSeconds: 1000 });
  await clock.advance(0);
  for (let minute = 0; minute < 10; minute += 1) {
    await clock.advance(60_000);
    const bookmark = { metadata: { resourceVersion: `${20 + minute}` } };
    transport.lastWatch.send("BOOKMARK", bookmark);
  }
  assert.equal(transport.watches.length, 1);
  await clock.advance(151_000);
  assert.equal(transport.watches.length, 2);
  assert.equal(transport.requests.length, 1);
  assert.equal(transport.lastWatch.request.query?.["resourceVersion"], "29");
});
