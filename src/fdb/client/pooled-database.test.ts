// The life of client processes in virtual time: crashes, hangs, leaks and nonsense, and what callers see of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../env/virtual-clock.ts";
import { isFdbError } from "../error.ts";
import type { ChildRequest } from "./child-messages.ts";
import { LostClientError } from "./lost-client-error.ts";
import type { PooledDatabase } from "./pooled-database.ts";
import { clientStage, outcome } from "../../../test/fixtures/client-stage.ts";
import type { ClientStage, Script } from "../../../test/fixtures/client-stage.ts";
import { healthy } from "../../../test/fixtures/scripted-child.ts";

function stage(
  script: Script = healthy(),
  isReady: (index: number) => boolean = () => true,
): ClientStage & { database: PooledDatabase } {
  const made = clientStage({ script, isReady });
  return { ...made, database: made.open("only") };
}

test("[DB10] a call is answered by the child, an error with its code and text", async () => {
  const { database } = stage(
    healthy((child, request) => {
      if (request.name === "excluded") child.answer(request, ["10.1.0.1"]);
      else child.fail(request, 1038, "Database is locked");
    }),
  );
  assert.deepEqual(await database.call("excluded", null, 1000), ["10.1.0.1"]);
  await assert.rejects(database.status(1000), {
    code: 1038,
    message: "Database is locked",
  });
  database.close();
});

test("[DB11] a crashed child is started again after pauses that double up to half a minute", async () => {
  const { clock, children, lost, database } = stage(healthy(), () => false);
  const startsMs: number[] = [];
  const beganMs = clock.nowMs();
  for (let index = 0; index < 11; index += 1) {
    startsMs.push(clock.nowMs() - beganMs);
    children.at(-1)?.crash();
    const count = children.length;
    while (children.length === count) await clock.advance(100);
  }
  const pauses = startsMs.slice(1).map((at, index) => at - (startsMs[index] ?? 0));
  assert.deepEqual(pauses, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  assert.equal(lost.length, 11);
  assert.equal(lost[0], "it was ended by SIGSEGV");
  database.close();
});

test("[DB11] a child that has run for a minute makes the next pause short again", async () => {
  const { clock, children, database } = stage();
  for (let index = 0; index < 3; index += 1) {
    children.at(-1)?.crash();
    await clock.advance(2_000);
  }
  assert.equal(children.length, 4);
  await clock.advance(61_000);
  children.at(-1)?.crash();
  await clock.advance(199);
  assert.equal(children.length, 4);
  await clock.advance(1);
  assert.equal(children.length, 5);
  database.close();
});

test("[DB12] a child that answers no ping for fifteen seconds is killed and replaced", async () => {
  const { clock, children, lost, database } = stage(() => {});
  await settle();
  await clock.advance(19_900);
  assert.equal(children.length, 1);
  await clock.advance(400);
  assert.equal(children.length, 2);
  assert.equal(children[0]?.isKilled, true);
  assert.deepEqual(lost, ["it does not answer"]);
  database.close();
});

test("[DB12] a child that leaves a call open long after its limit is killed, though it answers pings", async () => {
  const { clock, children, lost, database } = stage(healthy());
  await settle();
  const call = outcome(database.status(10_000));
  await clock.advance(10_000);
  assert.ok(isFdbError(call.error, 1031), "the caller waits no longer than it said");
  assert.equal(children[0]?.isKilled, false);
  await clock.advance(5_000);
  assert.equal(children[0]?.isKilled, true);
  assert.deepEqual(lost, ["it did not answer status"]);
  database.close();
});

test("[DB12] a child that is not ready in time is killed", async () => {
  const { clock, children, database } = stage(healthy(), (index) => index > 0);
  await clock.advance(20_000);
  assert.equal(children[0]?.isKilled, true);
  await clock.advance(200);
  assert.equal(children.length, 2);
  database.close();
});

test("[DB13] the database of a child above its memory moves; the child finishes what it has begun", async () => {
  const gibibyte = 1024 ** 3;
  const { clock, children, lost, database } = stage((child, request) =>
    healthy(() => {}, child === children[0] ? gibibyte + 1 : 50_000_000)(child, request),
  );
  await settle();
  const call = outcome(database.call("configure", { text: "double" }, 12_000));
  await clock.advance(10_000);
  assert.equal(children.length, 2);
  assert.equal(children[0]?.isKilled, false, "not in the middle of a command");
  const next = outcome(database.call("excluded", null, 60_000));
  await settle();
  assert.equal(children[1]?.requests[0]?.name, "excluded");
  children[0]?.answer(children[0].requests[0] as ChildRequest, null);
  await settle();
  assert.deepEqual([call, next], [{ value: null }, {}]);
  assert.equal(children[0]?.isKilled, true);
  assert.deepEqual(lost, [], "which is no failure of the database");
  database.close();
});

test("[DB13] at twice its memory a child is killed whatever it does", async () => {
  const { clock, children, lost, database } = stage(healthy(() => {}, 3 * 1024 ** 3));
  await settle();
  const call = outcome(database.call("configure", { text: "double" }, 12_000));
  await clock.advance(5_000);
  assert.equal(children[0]?.isKilled, true);
  assert.match(lost[0] ?? "", /bytes of memory/);
  await settle();
  assert.ok(call.error instanceof LostClientError);
  database.close();
});

test("[DB14] what only reads is asked again of the next child, within its time", async () => {
  const { clock, children, database } = stage(healthy());
  await settle();
  const call = outcome(database.status(10_000));
  await settle();
  children[0]?.crash();
  await clock.advance(200);
  const [child] = children.slice(-1);
  assert.equal(child?.requests[0]?.name, "status");
  assert.equal(child?.requests[0]?.timeoutMs, 9_800);
  child?.answerStatus(child.requests[0] as ChildRequest, { client: {} });
  await settle();
  assert.deepEqual(call.value, { client: {} });
  database.close();
});

test("[DB14] what writes is not repeated: its outcome is told as unknown", async () => {
  const { clock, children, database } = stage(healthy());
  await settle();
  const names = ["configure", "exclude", "include", "kill", "changeCoordinators"] as const;
  const calls = names.map((name) => outcome(database.call(name, {} as never, 10_000)));
  await settle();
  children[0]?.crash();
  await clock.advance(1_000);
  for (const { error } of calls) assert.ok(isFdbError(error, 1021));
  assert.deepEqual(children[1]?.requests, []);
  database.close();
});

test("[DB15] every call ends in its time, also when no child can be started", async () => {
  const { clock, open } = clientStage({ canStart: () => false });
  const database = open("only");
  const call = outcome(database.status(7_000));
  await clock.advance(6_999);
  assert.deepEqual(call, {});
  await clock.advance(1);
  assert.ok(isFdbError(call.error, 1031));
  database.close();
});

test("[DB16] a child that says what makes no sense is killed", async () => {
  const nonsense: unknown[] = [
    undefined,
    null,
    "hello",
    { type: "answer" },
    { type: "answer", id: 99, output: 1 },
    { type: "failure", id: "1", code: 1, message: "" },
    { type: "ready", version: "7.3.79" },
    { type: "dance" },
  ];
  for (const message of nonsense) {
    const { clock, children, database } = stage();
    await settle();
    children[0]?.say(message);
    assert.equal(children[0]?.isKilled, true, JSON.stringify(message));
    await clock.advance(200);
    assert.equal(children.length, 2);
    database.close();
  }
});

test("[DB18] a replaced child finishes what it has begun; new calls go to the new one", async () => {
  const { clock, children, lost, database, group } = stage(healthy());
  await settle();
  const before = outcome(database.call("configure", { text: "double" }, 60_000));
  const read = { type: "get", key: new Uint8Array(), snapshot: false } as const;
  const input = { transaction: 7, options: {}, mutations: [], read };
  const reading = outcome(database.call("read", input, 60_000, 7));
  await settle();
  group.replaceAll();
  await settle();
  const after = outcome(database.call("excluded", null, 60_000));
  await clock.advance(10_000);
  const [old, young] = children;
  assert.deepEqual(
    [old?.requests.map(({ name }) => name), young?.requests.map(({ name }) => name)],
    [["configure", "read"], ["excluded"]],
  );
  for (const request of old?.requests ?? []) old?.answer(request, null);
  young?.answer(young.requests[0] as ChildRequest, []);
  await settle();
  assert.deepEqual([before.value, reading.value, after.value], [null, null, []]);
  assert.equal(old?.isKilled, false, "its transaction is still open");
  const commit = outcome(
    database.call("commit", { transaction: 7, options: {}, mutations: [] }, 60_000, 7),
  );
  await settle();
  assert.equal(old?.requests.at(-1)?.name, "commit");
  old?.answer(old.requests.at(-1) as ChildRequest, null);
  await settle();
  database.forgetTransaction(7);
  assert.deepEqual([commit.value, old?.isKilled, lost], [null, true, []]);
  database.close();
});

test("[DB22] a transaction does not move to another child", async () => {
  const { clock, children, database } = stage(
    healthy((child, request) => child.answer(request, null)),
  );
  const read = { type: "get", key: new Uint8Array(), snapshot: false } as const;
  const input = { transaction: 3, options: {}, mutations: [], read };
  await database.call("read", input, 1_000, 3);
  children[0]?.crash();
  await clock.advance(1_000);
  await assert.rejects(
    database.call("commit", { transaction: 3, options: {}, mutations: [] }, 1_000, 3),
    LostClientError,
  );
  assert.deepEqual(children[1]?.requests, []);
  database.close();
});

test("[DB19] closing ends the child and every call at once", async () => {
  const { clock, children, database } = stage();
  await settle();
  const call = outcome(database.status(60_000));
  await settle();
  database.close();
  await settle();
  assert.match(String(call.error), /closed/);
  assert.equal(children[0]?.isKilled, true);
  await assert.rejects(database.status(1), /closed/);
  await clock.advance(120_000);
  assert.equal(children.length, 1);
  assert.equal(clock.pendingTimers, 0);
});
