// One reader of server-sent events, in virtual time: one that reads, a slow one, and one that takes nothing.
// Rules: spec/web.md [WEB11]-[WEB13].
import { strict as assert } from "node:assert";
import type { ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { test } from "node:test";
import { VirtualClock } from "../../env/virtual-clock.ts";
import type { PageModel } from "../view-model.ts";
import type { Source } from "./source.ts";
import { openStream, streamTimes } from "./stream.ts";

interface Reader {
  readonly response: ServerResponse;
  /** What arrived, by its event. */
  readonly events: string[];
  /** While it is true nothing is taken. */
  isBusy: boolean;
  take(): void;
}

function reader(): Reader {
  const events: string[] = [];
  let held: (() => void) | undefined;
  const found: Reader = {
    events,
    isBusy: false,
    take() {
      held?.();
      held = undefined;
    },
    response: Object.assign(
      new Writable({
        highWaterMark: 1,
        write(chunk: Buffer, _encoding, done) {
          events.push(/^event: (\w+)/.exec(chunk.toString())?.[1] ?? "");
          if (found.isBusy) held = done;
          else done();
        },
      }),
      { writeHead: () => {}, flushHeaders: () => {} },
    ) as unknown as ServerResponse,
  };
  return found;
}

function scene(): {
  clock: VirtualClock;
  seen: Reader;
  looks: () => number;
  change: (text: string) => void;
} {
  const clock = new VirtualClock();
  let model: PageModel = {
    session: {
      ...{ source: "live", where: "https://127.0.0.1:7443", namespace: "", speed: 1 },
      ...{ version: "1", missing: [] },
    },
    clusters: {},
  };
  let looks = 0;
  let news = (): void => {};
  const source = {
    nowMs: () => clock.nowMs(),
    look(_cluster: unknown, onNews: () => void) {
      looks += 1;
      news = onNews;
      return { ready: Promise.resolve(), model: () => model, end: () => void (looks -= 1) };
    },
  } as unknown as Source;
  const seen = reader();
  openStream(seen.response, { source, cluster: undefined, clock, times: streamTimes });
  return {
    ...{ clock, seen, looks: () => looks },
    change(text) {
      model = { ...model, session: { ...model.session, where: text } };
      news();
    },
  };
}

test("[WEB11] first the whole, then at most two changes in a second, and ticks when nothing changes", async () => {
  const { clock, seen, change } = scene();
  await clock.advance(1);
  assert.deepEqual(seen.events, ["model"]);
  for (let index = 0; index < 100; index += 1) {
    change(`change ${index}`);
    await clock.advance(100);
  }
  const changes = seen.events.filter((event) => event === "changes").length;
  assert.ok(changes >= 18 && changes <= 20, `${changes} changes in ten seconds`);
  await clock.advance(25_000);
  assert.deepEqual(seen.events.slice(-2), ["tick", "tick"]);
});

test("[WEB11] news that change nothing are not sent", async () => {
  const { clock, seen, change } = scene();
  await clock.advance(1);
  change("https://127.0.0.1:7443");
  await clock.advance(2_000);
  assert.deepEqual(seen.events, ["model"]);
});

test("[WEB12] a slow reader gets what came meanwhile as one difference", async () => {
  const { clock, seen, change } = scene();
  await clock.advance(1);
  seen.isBusy = true;
  change("one");
  await clock.advance(1_000);
  for (const text of ["two", "three", "four"]) {
    change(text);
    await clock.advance(1_000);
  }
  assert.deepEqual(seen.events, ["model", "changes"], "no more than one answer waits");
  seen.isBusy = false;
  seen.take();
  await clock.advance(1_000);
  assert.deepEqual(seen.events, ["model", "changes", "changes"]);
});

test("[WEB12] [WEB13] a reader that takes nothing is let go, and nobody looks any more", async () => {
  const { clock, seen, change, looks } = scene();
  await clock.advance(1);
  seen.isBusy = true;
  change("one");
  await clock.advance(streamTimes.patienceMs - 1_000);
  assert.equal(looks(), 1);
  await clock.advance(2_000);
  assert.equal(seen.response.destroyed, true);
  assert.equal(looks(), 0);
});
