// One reader of server-sent events: first the whole, then only what changed, at most twice in a second. A reader that is
// slow misses what was in between, and one that takes nothing is let go, so that no more than one answer waits for anybody.
// Rules: spec/web.md [WEB11]-[WEB13].
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../env/clock.ts";
import { differences } from "../difference.ts";
import type { PageModel } from "../view-model.ts";
import type { ClusterRef, Source } from "./source.ts";

export interface StreamTimes {
  /** Between two changes. */
  readonly pauseMs: number;
  /** Without any change. */
  readonly tickMs: number;
  /** For a reader that takes nothing. */
  readonly patienceMs: number;
}

export const streamTimes: StreamTimes = { pauseMs: 500, tickMs: 10_000, patienceMs: 30_000 };

export interface StreamOptions {
  readonly source: Source;
  readonly cluster: ClusterRef | undefined;
  /** Of this machine. */
  readonly clock: Clock;
  readonly times: StreamTimes;
}

/** Ends with the response. */
export function openStream(response: ServerResponse, options: StreamOptions): void {
  const { source, cluster, clock, times } = options;
  let sent: PageModel | undefined;
  let isOver = false;
  // Nothing is sent before there is something to see.
  let isWaiting = true;
  let pause: Timer | undefined;
  let tick: Timer | undefined;
  let patience: Timer | undefined;
  const look = source.look(cluster, () => soon());

  function soon(): void {
    if (isOver || isWaiting || pause !== undefined) return;
    pause = clock.setTimer(sent === undefined ? 0 : times.pauseMs, () => {
      pause = undefined;
      send(false);
    });
  }

  function send(isTick: boolean): void {
    if (isOver || isWaiting) return;
    const atMs = source.nowMs();
    const model = look.model();
    if (sent === undefined) write("model", { atMs, model });
    else {
      const changes = model === sent ? [] : differences(sent, model);
      if (changes.length > 0) write("changes", { atMs, changes });
      else if (isTick) write("tick", { atMs });
    }
    sent = model;
  }

  function write(event: string, data: unknown): void {
    tick?.cancel();
    tick = clock.setTimer(times.tickMs, () => send(true));
    if (response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) return;
    isWaiting = true;
    patience = clock.setTimer(times.patienceMs, () => response.destroy());
    response.once("drain", () => {
      patience?.cancel();
      isWaiting = false;
      // What came meanwhile goes out as one change.
      soon();
      tick?.cancel();
      tick = clock.setTimer(times.tickMs, () => send(true));
    });
  }

  response.once("close", () => {
    isOver = true;
    for (const timer of [pause, tick, patience]) timer?.cancel();
    look.end();
  });
  response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
  void look.ready.then(() => {
    isWaiting = false;
    send(false);
  });
}
