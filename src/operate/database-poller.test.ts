// Tests of the background reader of a database's status.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sleep } from "../env/clock.ts";
import type { AdminClient, AdminClientOptions } from "../fdb/admin.ts";
import { FdbError } from "../fdb/error.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { VirtualClock } from "../sim/virtual-clock.ts";
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
}

function bench(): Bench {
  const clock = new VirtualClock(0);
  const opened: AdminClientOptions[] = [];
  const [closed, asked, news]: [number[], number[], number[]] = [[], [], []];
  const limits: number[] = [];
  const answer: Bench["answer"] = { delayMs: 100, status: { cluster: { generation: 1 } } };
  const open = (options: AdminClientOptions): AdminClient => {
    opened.push(options);
    const number = opened.length;
    const client: Partial<AdminClient> = {
      async status(timeoutMs) {
        asked.push(clock.nowMs());
        limits.push(timeoutMs);
        const { status, delayMs } = answer;
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
  return { clock, poller, opened, closed, asked, limits, news, answer };
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

test("[OP11] an observation carries the time of its question", async () => {
  const { clock, poller } = bench();
  poller.setIntervalMs(1_000);
  await clock.advance(500);
  poller.follow(target);
  await clock.advance(200);
  assert.deepEqual(poller.latest, {
    kind: "seen",
    observedMs: 500,
    answeredMs: 600,
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

test("[OP18] a slow database is given twice the time until it is quick again", async () => {
  const { clock, poller, limits, answer } = bench();
  poller.setIntervalMs(1_000);
  answer.delayMs = 8_000;
  poller.follow(target);
  await clock.advance(5_500);
  assert.equal(poller.latest.kind, "missing");
  await clock.advance(9_000);
  assert.equal(poller.latest.kind, "seen");
  answer.delayMs = 100;
  await clock.advance(11_000);
  assert.deepEqual(limits.slice(0, 3), [5_000, 10_000, 10_000]);
  assert.equal(limits.at(-1), 5_000);
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
