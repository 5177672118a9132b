// Tests of the background reader of a database's status.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sleep } from "../env/clock.ts";
import type { AdminClient, AdminClientOptions } from "../fdb/admin.ts";
import { FdbError } from "../fdb/error.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { DatabasePoller } from "./database-poller.ts";

interface Bench {
  clock: VirtualClock;
  poller: DatabasePoller;
  opened: AdminClientOptions[];
  closed: number[];
  asked: number[];
  /** The time limits of the questions. */
  limits: number[];
  news: number[];
  answer: { delayMs: number; status: DatabaseStatus | undefined };
  /** To the next questions, in their order. */
  answers: Partial<Bench["answer"]>[];
}

function bench(): Bench {
  const clock = new VirtualClock(0);
  const opened: AdminClientOptions[] = [];
  const [closed, asked, news]: [number[], number[], number[]] = [[], [], []];
  const limits: number[] = [];
  const answer: Bench["answer"] = { delayMs: 100, status: { cluster: { generation: 1 } } };
  const answers: Bench["answers"] = [];
  const open = (options: AdminClientOptions): AdminClient => {
    opened.push(options);
    const number = opened.length;
    const client: Partial<AdminClient> = {
      async status(timeoutMs) {
        asked.push(clock.nowMs());
        limits.push(timeoutMs);
        const { status, delayMs } = { ...answer, ...answers.shift() };
        await sleep(clock, Math.min(delayMs, timeoutMs));
        if (delayMs > timeoutMs) throw new FdbError(1031, "timed out");
        if (status === undefined) throw new FdbError(1031, "timed out");
        return status;
      },
      close: () => closed.push(number),
    };
    return client as AdminClient;
  };
  const poller = new DatabasePoller({
    clock,
    admin: { open, isVersionSupported: () => true, installedVersions: () => [] },
    timeoutMs: 5_000,
    onObservation: () => news.push(clock.nowMs()),
  });
  return { clock, poller, opened, closed, asked, limits, news, answer, answers };
}

const target = { name: "default/sample", connectionString: "a:b@c:1", version: "7.3.79" };

test("[OP10] before an interval is known, a refusal is not followed by a question at once", async () => {
  const { clock, poller, asked, answer } = bench();
  Object.assign(answer, { status: undefined, delayMs: 0 });
  poller.follow(target);
  await clock.advance(2_500);
  assert.deepEqual(asked, [0, 1_000, 2_000]);
  poller.close();
});

test("[OP10] the status is read at once and then at the interval", async () => {
  const { clock, poller, asked, news } = bench();
  poller.setIntervalMs(1_000);
  poller.follow(target);
  await clock.advance(2_500);
  assert.deepEqual(asked, [0, 1_100, 2_200]);
  assert.deepEqual(news, [100, 1_200, 2_300]);
  poller.close();
});

test("[OP10] a shorter interval takes effect at once, a longer one after the next answer", async () => {
  const { clock, poller, asked } = bench();
  poller.setIntervalMs(30_000);
  poller.follow(target);
  await clock.advance(1_000);
  poller.setIntervalMs(1_000);
  await clock.advance(1_050);
  assert.deepEqual(asked, [0, 2_000]);
  poller.close();
});

test("[OP76] nothing is asked during the quiet time, unless somebody wants to know", async () => {
  const { clock, poller, asked } = bench();
  poller.follow(target, 30_000);
  poller.setIntervalMs(1_000);
  await clock.advance(29_000);
  assert.deepEqual(asked, []);
  await clock.advance(1_500);
  assert.deepEqual(asked, [30_000]);
  poller.close();
  const other = bench();
  other.poller.follow(target, 30_000);
  other.poller.setIntervalMs(1_000);
  await other.clock.advance(5_000);
  other.poller.askNow();
  await other.clock.advance(1_150);
  assert.deepEqual(other.asked, [5_000, 6_100]);
  other.poller.close();
});

test("[OP11] an observation carries the time of its question and the version of its client", async () => {
  const { clock, poller } = bench();
  poller.setIntervalMs(1_000);
  await clock.advance(500);
  poller.follow(target);
  await clock.advance(200);
  assert.deepEqual(poller.latest, {
    kind: "seen",
    observedMs: 500,
    answeredMs: 600,
    clientVersion: target.version,
    status: { cluster: { generation: 1 } },
  });
  poller.close();
});

test("[OP11] a status that somebody else asked for counts, and an older question does not undo it", async () => {
  const { clock, poller } = bench();
  poller.setIntervalMs(30_000);
  const seenMs = () => (poller.latest.kind === "seen" ? poller.latest.observedMs : undefined);
  poller.take({}, 0);
  assert.equal(seenMs(), undefined, "there is nobody to ask");
  poller.follow(target);
  await clock.advance(50);
  poller.take({ cluster: { generation: 7 } }, 50);
  await clock.advance(100);
  assert.equal(seenMs(), 50);
  poller.take({ cluster: { generation: 6 } }, 40);
  assert.equal(seenMs(), 50);
  poller.close();
});

test("[OP11] a question that is asked again while one is under way follows it", async () => {
  const { clock, poller, asked } = bench();
  poller.setIntervalMs(30_000);
  poller.follow(target);
  await clock.advance(50);
  poller.askNow();
  await clock.advance(100);
  assert.deepEqual(asked, [0, 100]);
  poller.close();
});

test("[OP12] a database that does not answer is an observation with its beginning", async () => {
  const { clock, poller, answer } = bench();
  assert.equal(poller.latest.kind === "missing" && poller.latest.reason, "NoConnectionString");
  poller.setIntervalMs(1_000);
  answer.status = undefined;
  poller.follow(target);
  assert.equal(poller.latest.kind === "missing" && poller.latest.reason, "Asking");
  await clock.advance(3_500);
  assert.deepEqual(poller.latest, {
    kind: "missing",
    reason: "Unreachable",
    message: "timed out",
    sinceMs: 0,
    code: 1031,
  });
  answer.status = {};
  await clock.advance(1_200);
  assert.equal(poller.latest.kind, "seen");
  poller.close();
});

test("[OP18] a slow database is given ever more time until it is quick again", async () => {
  const { clock, poller, limits, answer } = bench();
  poller.setIntervalMs(1_000);
  answer.delayMs = 50_000;
  poller.follow(target);
  await clock.advance(5_500);
  assert.equal(poller.latest.kind, "missing");
  await clock.advance(140_000);
  assert.equal(poller.latest.kind, "seen");
  answer.delayMs = 100;
  await clock.advance(60_000);
  assert.deepEqual(limits.slice(0, 5), [5_000, 10_000, 20_000, 40_000, 60_000]);
  assert.equal(limits.at(-1), 5_000);
  poller.close();
});

const serving: DatabaseStatus = { client: { database_status: { available: true, healthy: true } } };
const away: DatabaseStatus = { client: { database_status: { available: false, healthy: false } } };

test("[OP63] after an act of ours nobody waits for a question without an answer", async () => {
  const { clock, poller, asked, news, answer, answers } = bench();
  answer.status = serving;
  poller.setIntervalMs(30_000);
  poller.setHurry(true);
  poller.follow(target);
  await clock.advance(10_000);
  answers.push({ delayMs: 60_000 });
  poller.askNow();
  await clock.advance(3_200);
  assert.deepEqual(asked, [0, 10_000, 13_000]);
  assert.deepEqual(news, [100, 13_100]);
  assert.equal(poller.latest.kind === "seen" && poller.latest.observedMs, 13_000);
  // The first one ends in vain, and that is no news; the next question comes at its time.
  await clock.advance(29_800);
  assert.deepEqual(news, [100, 13_100]);
  await clock.advance(1_000);
  assert.deepEqual(news, [100, 13_100, 43_200]);
  poller.close();
});

test("[OP63] a database that is away is asked again after three seconds, also when it never answered", async () => {
  const { clock, poller, asked, news, answer, answers } = bench();
  answer.status = away;
  poller.setIntervalMs(1_000);
  poller.setHurry(true);
  answers.push({}, { delayMs: 60_000 }, { status: serving });
  poller.follow(target);
  await clock.advance(8_000);
  assert.deepEqual(asked.slice(0, 3), [0, 1_100, 4_100]);
  assert.deepEqual(news.slice(0, 2), [100, 4_200]);
  poller.close();
});

test("[OP63] a database that is slow with every status is given the time that it needs", async () => {
  const { clock, poller, asked, news, answer } = bench();
  Object.assign(answer, { status: away, delayMs: 4_000 });
  poller.setIntervalMs(1_000);
  poller.setHurry(true);
  poller.follow(target);
  await clock.advance(20_000);
  assert.deepEqual(asked, [0, 3_000, 8_000, 13_000, 18_000]);
  assert.deepEqual(news, [4_000, 7_000, 12_000, 17_000]);
  poller.close();
});

test("[OP63] silence is no news where something was heard since the question was asked", async () => {
  const { clock, poller, news, answer, answers } = bench();
  answer.status = away;
  poller.setIntervalMs(1_000);
  poller.setHurry(true);
  answers.push({ delayMs: 4_000 }, { delayMs: 60_000 });
  poller.follow(target);
  await clock.advance(9_000);
  assert.deepEqual(news, [4_000]);
  assert.equal(poller.latest.kind, "seen");
  poller.close();
});

test("[OP63] a healthy database at rest, and one that was never created, are asked one by one", async () => {
  const { clock, poller, asked, answer } = bench();
  Object.assign(answer, { status: serving, delayMs: 4_500 });
  poller.setIntervalMs(1_000);
  poller.follow(target);
  await clock.advance(4_600);
  poller.setHurry(true);
  await clock.advance(5_000);
  assert.deepEqual(asked, [0, 5_500]);
  poller.close();
});

test("[OP63] however long no answer comes, few questions are under way", async () => {
  const { clock, poller, asked, answer } = bench();
  Object.assign(answer, { status: undefined, delayMs: 1e9 });
  poller.setIntervalMs(1_000);
  poller.setHurry(true);
  poller.follow(target);
  await clock.advance(600_000);
  const last = asked.filter((atMs) => atMs > 540_000);
  assert.ok(last.length >= 6 && last.length <= 8, last.join(", "));
  poller.close();
});

test("[OP13] coordinators that the client followed itself need no new client", async () => {
  const { clock, poller, opened, closed, answer } = bench();
  poller.setIntervalMs(1_000);
  answer.status = { cluster: { connection_string: "a:new@d:1" } };
  poller.follow(target);
  await clock.advance(200);
  poller.follow({ ...target, connectionString: "a:new@d:1" });
  assert.equal(opened.length, 1);
  poller.follow({ ...target, connectionString: "other:x@e:1" });
  assert.equal(opened.length, 2);
  poller.follow({ ...target, connectionString: "other:x@e:1", version: "7.4.1" });
  assert.equal(opened.length, 3);
  assert.deepEqual(closed, [1, 2]);
  poller.close();
});

test("[OP46] a closed poller asks no more and closes its client", async () => {
  const { clock, poller, asked, closed } = bench();
  poller.setIntervalMs(1_000);
  poller.follow(target);
  await clock.advance(150);
  poller.close();
  await clock.advance(10_000);
  assert.deepEqual(asked, [0]);
  assert.deepEqual(closed, [1]);
});
