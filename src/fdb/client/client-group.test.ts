// Who shares a client process with whom, in virtual time: full ones, lost ones, silent and large databases.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../env/virtual-clock.ts";
import { isFdbError } from "../error.ts";
import type { ChildRequest } from "./child-messages.ts";
import type { PooledDatabase } from "./pooled-database.ts";
import { clientStage, outcome } from "../../../test/fixtures/client-stage.ts";
import type { Script } from "../../../test/fixtures/client-stage.ts";
import { healthy } from "../../../test/fixtures/scripted-child.ts";
import type { ScriptedChild } from "../../../test/fixtures/scripted-child.ts";

const minuteMs = 60_000;
const mebibyte = 1024 ** 2;

/** Answers everything, except as the name of a database says: "silent" never, "large" with a large status. */
const byName: Script = healthy((child, request) => {
  const name = child.of(request);
  if (name.startsWith("silent")) return;
  if (request.name !== "status") return child.answer(request, null);
  child.answerStatus(request, { client: {} }, name.startsWith("large") ? 20 * mebibyte : 10_000);
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `d${index + 1}`);
}

function find(children: readonly ScriptedChild[], name: string): ScriptedChild {
  const found = children.filter(
    ({ isOver, databases }) => !isOver && [...databases.values()].includes(name),
  );
  assert.equal(found.length, 1, `${name} is in ${found.length} processes`);
  return found[0] as ScriptedChild;
}

test("[DB50] databases share processes up to the limit, and the fullest one with room is filled first", async () => {
  const { open, seating } = clientStage({ limits: { databasesPerProcess: 3 } });
  const opened = names(5).map(open);
  await settle();
  assert.equal(seating(), "d1 d2 d3 | d4 d5");
  opened[0]?.close();
  opened[3]?.close();
  open("d6");
  await settle();
  assert.equal(seating(), "d2 d3 d6 | d5");
});

test("[DB50] with one place in each process nobody shares, also after a loss", async () => {
  const { clock, open, children, seating } = clientStage({
    script: byName,
    limits: { databasesPerProcess: 1 },
  });
  const opened = names(2).map(open);
  await settle();
  children[0]?.crash();
  await clock.advance(1_000);
  assert.equal(seating(), "d2 | d1");
  await Promise.all(opened.map((each) => each.status(1_000)));
  await clock.advance(10 * minuteMs);
  assert.equal(seating(), "d2 | d1", "well again, and no process was started for it");
  assert.equal(children.length, 3);
});

test("[DB50] a database with a large status gets a process of its own, and the others stay", async () => {
  const { open, seating, lost } = clientStage({ script: byName });
  const opened = [open("d1"), open("large"), open("d2")];
  await Promise.all(opened.map((each) => each.status(1_000)));
  await settle();
  assert.equal(seating(), "d1 d2 | large");
  open("d3");
  await settle();
  assert.equal(seating(), "d1 d2 d3 | large");
  assert.deepEqual(lost, []);
});

test("[DB50] a large status is not read where others would wait for it", async () => {
  const read: string[] = [];
  const { open, seating } = clientStage({
    script: healthy((child, request) => {
      const bytes = child.of(request) === "large" ? 20 * mebibyte : 10_000;
      const { mostBytes } = request.input as { mostBytes: number | null };
      if (mostBytes !== null && bytes > mostBytes) {
        return child.answer(request, { type: "large", bytes });
      }
      read.push([...child.databases.values()].join(" "));
      child.answerStatus(request, { client: {} }, bytes);
    }),
  });
  const [large, other] = [open("large"), open("d1")];
  assert.deepEqual(await large.status(1_000), { client: {} });
  assert.deepEqual(await other.status(1_000), { client: {} });
  assert.equal(seating(), "d1 | large");
  assert.deepEqual(read, ["large", "d1"]);
});

test("[DB51] who had a call under way is to blame for a loss; the others share again at once", async () => {
  const { clock, open, children, blamed, seating } = clientStage();
  const opened = names(4).map(open);
  await settle();
  const write = outcome(opened[1]?.call("configure", { text: "double" }, 10_000) as Promise<null>);
  await settle();
  children[0]?.crash();
  await settle();
  assert.equal(seating(), "d1 d3 d4");
  assert.ok(isFdbError(write.error, 1021), "the outcome of the write is unknown");
  await clock.advance(200);
  assert.equal(seating(), "d1 d3 d4 | d2");
  assert.deepEqual(blamed, ["d2"]);
});

test("[DB51] when nobody had a call under way all are to blame", async () => {
  const { clock, open, children, blamed, seating } = clientStage();
  names(3).map(open);
  await settle();
  children[0]?.crash();
  await clock.advance(200);
  assert.equal(seating(), "d1 | d2 | d3");
  assert.deepEqual(blamed, ["d1", "d2", "d3"]);
});

test("[DB51] many that may be the cause are divided, and after the next loss each is alone", async () => {
  const { clock, open, children, seating } = clientStage();
  const opened = names(16).map(open);
  await settle();
  for (const each of opened) void outcome(each.status(60_000));
  children[0]?.crash();
  await settle();
  const room = (first: number): string =>
    [0, 1, 2, 3].map((index) => `d${first + index}`).join(" ");
  assert.equal(seating(), [room(1), room(5), room(9), room(13)].join(" | "));
  children[1]?.crash();
  await clock.advance(1_000);
  assert.equal(seating(), [room(5), room(9), room(13), "d1 | d2 | d3 | d4"].join(" | "));
});

test("[DB14] a question that ends one process after the other is given up", async () => {
  const { clock, open, children } = clientStage({
    script: healthy((child) => child.crash()),
  });
  const call = outcome(open("crash").status(60_000));
  await clock.advance(60_000);
  assert.ok(isFdbError(call.error, 1021));
  assert.equal(
    children.length,
    6,
    "five that were asked, and one that waits for the next question",
  );
});

test("[DB51] a process that was lost before it was ready says nothing about its databases", async () => {
  const { clock, open, children, seating } = clientStage({ isReady: (index) => index > 1 });
  names(3).map(open);
  await settle();
  children[0]?.crash();
  await clock.advance(200);
  children[1]?.crash();
  await clock.advance(400);
  assert.equal(seating(), "d1 d2 d3");
});

test("[DB52] a database that leaves a call open is taken away, and what others have begun is finished", async () => {
  const { clock, open, children, blamed, seating } = clientStage();
  const [silent, other] = [open("silent"), open("other")];
  await settle();
  const hanging = outcome(silent.status(10_000));
  const begun = outcome(other.call("configure", { text: "double" }, 60_000));
  await clock.advance(15_000);
  assert.ok(isFdbError(hanging.error, 1031));
  assert.deepEqual(blamed, ["silent"]);
  const [old] = children;
  assert.equal(old?.isKilled, false, "the other database is not done there");
  await clock.advance(200);
  assert.equal(seating(), "other | other | silent");
  const request = old?.requests.find(({ name }) => name === "configure") as ChildRequest;
  old?.answer(request, null);
  await settle();
  assert.deepEqual(begun, { value: null });
  assert.equal(seating(), "other | silent");
});

test("[DB52] a late answer of a database that was taken away harms nobody", async () => {
  const { clock, open, children, lost } = clientStage();
  const [silent, other] = [open("silent"), open("other")];
  await settle();
  void outcome(silent.status(10_000));
  const begun = outcome(other.call("configure", { text: "double" }, 60_000));
  await clock.advance(15_000);
  const old = children[0] as ScriptedChild;
  const [late, write] = old.requests as [ChildRequest, ChildRequest];
  old.answerStatus(late, { client: {} });
  old.answer(write, null);
  await settle();
  assert.deepEqual(begun, { value: null });
  assert.deepEqual(lost, ["it did not answer status"]);
});

test("[DB52] three questions in a row without an answer in time are a reason, two are none", async () => {
  const isSilent = { now: true };
  const { clock, open, seating, lost } = clientStage({
    script: healthy((child, request) => {
      // The library keeps its time limits, as it should.
      if (child.of(request) === "slow" && isSilent.now) child.fail(request, 1031);
      else child.answerStatus(request, { client: {} });
    }),
  });
  const [slow] = [open("slow"), open("other")];
  const ask = async (): Promise<void> => {
    await slow.status(1_000).catch(() => {});
    await clock.advance(1_000);
  };
  await ask();
  await ask();
  isSilent.now = false;
  await ask();
  isSilent.now = true;
  await ask();
  await ask();
  assert.equal(seating(), "slow other");
  await ask();
  assert.equal(seating(), "other | slow");
  assert.deepEqual(lost, [], "no client was lost");
});

test("[DB52] an exclusion that is waited for in vain is no silence", async () => {
  const { open, seating } = clientStage({
    script: healthy((child, request) => child.fail(request, 1031)),
  });
  const [patient] = [open("patient"), open("other")];
  for (let index = 0; index < 5; index += 1) {
    const input = { targets: ["10.1.0.1"], wait: true };
    await patient.call("exclude", input, 1_000).catch(() => {});
  }
  assert.equal(seating(), "patient other");
});

test("[DB53] closing a database tells its process, and the last one ends it", async () => {
  const { clock, open, children, seating } = clientStage();
  const [first, second] = [open("first"), open("second")];
  await settle();
  first.close();
  assert.equal(seating(), "second");
  second.close();
  assert.equal(children[0]?.isKilled, true);
  assert.equal(clock.pendingTimers, 0);
});

test("[DB54] a database that was well for five minutes shares a process again, after a relapse for ten", async () => {
  const { clock, open, children, seating } = clientStage({ script: byName });
  const opened = names(3).map(open);
  const crash = async (): Promise<void> => {
    await settle();
    const child = find(children, "d1");
    void outcome(opened[0]?.call("configure", { text: "double" }, 1_000) as Promise<null>);
    child.crash();
    await clock.advance(1_000);
    await opened[0]?.status(1_000);
  };
  await crash();
  assert.equal(seating(), "d2 d3 | d1");
  await clock.advance(4 * minuteMs);
  assert.equal(seating(), "d2 d3 | d1");
  await clock.advance(minuteMs);
  assert.equal(seating(), "d2 d3 d1");
  await crash();
  await clock.advance(9 * minuteMs);
  assert.equal(seating(), "d2 d3 | d1");
  await clock.advance(minuteMs);
  assert.equal(seating(), "d2 d3 d1");
});

test("[DB54] a database that never answers stays where it is", async () => {
  const { clock, open, seating } = clientStage({ script: byName });
  const [silent] = [open("silent"), open("d1")];
  for (let index = 0; index < 30; index += 1) {
    void outcome(silent.status(10_000));
    await clock.advance(minuteMs);
  }
  assert.equal(seating().split(" | ").toSorted().join(" | "), "d1 | silent");
});

test("[DB55] many databases in trouble share a few processes, and none with those that are well", async () => {
  const { clock, open, seating } = clientStage({
    script: byName,
    limits: { quarantineProcesses: 4 },
  });
  const silent = Array.from({ length: 12 }, (_, index) => open(`silent${index}`));
  const well = names(4).map(open);
  for (let index = 0; index < 4; index += 1) {
    for (const each of [...silent, ...well]) void outcome(each.status(10_000));
    await clock.advance(minuteMs);
  }
  const rooms = seating().split(" | ");
  const isMixed = rooms.some((room) => room.includes("silent") && /\bd\d/.test(room));
  assert.equal(isMixed, false, seating());
  assert.ok(rooms.length <= 5, seating());
});

test("[DB18] [DB55] when certificates change those in trouble stay apart", async () => {
  const { clock, open, children, group, seating } = clientStage({ script: byName });
  const opened = names(3).map(open);
  await settle();
  void outcome(opened[0]?.call("configure", { text: "double" }, 1_000) as Promise<null>);
  children[0]?.crash();
  await clock.advance(1_000);
  group.replaceAll();
  await settle();
  assert.equal(seating().split(" | ").toSorted().join(" | "), "d1 | d2 d3");
  assert.equal(children.filter(({ isOver }) => !isOver).length, 2);
});

test("[DB18] a database that finds no new process stays in the old one and tries again", async () => {
  const can = { start: true };
  const { clock, open, children, group } = clientStage({
    script: byName,
    canStart: () => can.start,
  });
  const only = open("only");
  await settle();
  can.start = false;
  group.replaceAll();
  assert.deepEqual(await only.status(1_000), { client: {} });
  can.start = true;
  await clock.advance(1_000);
  assert.equal(children.length, 2);
  assert.equal(children[0]?.isKilled, true);
});

test("[DB51] [DB52] one silent, one crashing and one large database among fifty: no other waits a second", async () => {
  const startMs = 300;
  const made = clientStage({
    isReady: (index) => {
      made.clock.setTimer(startMs, () => !children[index]?.isOver && children[index]?.ready());
      return false;
    },
    script: (child, request) => {
      if (child.of(request) === "crash" && request.name !== "ping") child.crash();
      else byName(child, request);
    },
  });
  const { clock, children, open, seating } = made;
  const trouble = ["silent", "crash", "large"].map(open);
  const others = names(47).map(open);
  await clock.advance(1_000);
  let longestMs = 0;
  const failures: unknown[] = [];
  const poll = async (database: PooledDatabase): Promise<void> => {
    const askedMs = clock.nowMs();
    try {
      await database.status(10_000);
      longestMs = Math.max(longestMs, clock.nowMs() - askedMs);
    } catch (error) {
      failures.push(error);
    }
  };
  for (let round = 0; round < 120; round += 1) {
    for (const each of trouble) void outcome(each.status(10_000));
    for (const each of others) void poll(each);
    await clock.advance(5_000);
  }
  assert.deepEqual(failures, []);
  assert.ok(longestMs < 1_000, `somebody waited for ${longestMs} ms`);
  const rooms = seating().split(" | ");
  const own = rooms.filter((room) => /silent|crash|large/.test(room));
  assert.ok(
    own.every((room) => !room.includes(" ")),
    seating(),
  );
});
