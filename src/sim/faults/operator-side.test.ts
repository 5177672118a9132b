// Faults on the operator's side: servers that never answer, answers in bunches, a process that stands still.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import type { KubeTransport, WatchEvent } from "../../kube/transport.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { laggingWatch } from "./lagging-watch.ts";
import { ShuffledAnswers } from "./shuffled-answers.ts";
import { Silence } from "./silence.ts";
import { Suspension } from "./suspension.ts";

class Scripted implements KubeTransport {
  readonly carriedOut: string[] = [];
  emit: (event: WatchEvent) => void = () => {};

  async request({ path }: { path: string }) {
    this.carriedOut.push(path);
    return { status: 200, body: path };
  }

  watch(_: unknown, onEvent: (event: WatchEvent) => void): Promise<void> {
    this.emit = onEvent;
    return new Promise(() => {});
  }
}

const get = (path: string) => ({ method: "GET", path }) as const;
const event = (object: number): WatchEvent => ({ type: "ADDED", object });

test("[W117] a silent server answers nobody: requests end at their deadline, carried out or not", async () => {
  const clock = new VirtualClock(0);
  const server = new Scripted();
  const silence = new Silence(clock, seededRandom(1));
  const transport = silence.transport(server);
  assert.equal((await transport.request(get("/a"))).body, "/a");
  silence.begin("API server");
  const ends: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    transport.request(get(`/${index}`)).catch((error: Error) => {
      ends.push(`${clock.nowMs()} ${error.message}`);
    });
  }
  await clock.run();
  assert.deepEqual(new Set(ends), new Set(["30000 no answer came back"]));
  const done = server.carriedOut.length - 1;
  assert.ok(done > 0 && done < 20, `${done} of 20 were carried out`);
});

test("[W117] a watch says nothing in the silence, and all of it in its order afterwards", async () => {
  const clock = new VirtualClock(0);
  const server = new Scripted();
  const silence = new Silence(clock, seededRandom(1));
  const seen: unknown[] = [];
  void silence.transport(server).watch(get("/pods"), ({ object }) => seen.push(object));
  server.emit(event(1));
  silence.begin("API server");
  server.emit(event(2));
  server.emit(event(3));
  await clock.advance(1_000);
  assert.deepEqual(seen, [1]);
  silence.end("API server");
  await clock.advance(1);
  server.emit(event(4));
  assert.deepEqual(seen, [1, 2, 3, 4]);
});

test("[W118] while a process stands still no timer fires and nothing arrives, and its clock goes on", async () => {
  const clock = new VirtualClock(0);
  const server = new Scripted();
  const suspension = new Suspension(clock);
  const own = suspension.clock(clock);
  const seen: string[] = [];
  const note = (what: string): void => void seen.push(`${own.nowMs()} ${what}`);
  void suspension
    .transport(server)
    .watch(get("/pods"), ({ object }) => note(`event ${String(object)}`));
  own.setTimer(50, () => note("early timer"));
  own.setTimer(200, () => note("timer"));
  own.setTimer(150, () => note("cancelled")).cancel();
  own.setTimer(2_000, () => note("late timer"));
  await clock.advance(100);
  suspension.suspend(900);
  void suspension
    .transport(server)
    .request(get("/a"))
    .then(() => note("answer"));
  server.emit(event(1));
  server.emit(event(2));
  await clock.advance(3_000);
  assert.deepEqual(seen.slice(0, 1), ["50 early timer"]);
  assert.deepEqual(
    seen.slice(1, -1).sort(),
    ["answer", "event 1", "event 2", "timer"].map((what) => `1000 ${what}`),
  );
  assert.ok(seen.indexOf("1000 event 1") < seen.indexOf("1000 event 2"));
  assert.deepEqual(seen.slice(-1), ["2000 late timer"]);
});

test("[W121] a kind that is behind tells its changes later than the others", async () => {
  const clock = new VirtualClock(0);
  const conditions = { lagMs: 100, moreMs: new Map([["nodes", 5_000]]) };
  const seen: string[] = [];
  for (const kind of ["pods", "nodes"]) {
    const server = new Scripted();
    const lagging = laggingWatch(server, clock, conditions);
    void lagging.watch(get(`/api/v1/${kind}`), () => seen.push(`${clock.nowMs()} ${kind}`));
    server.emit(event(1));
  }
  await clock.run();
  assert.deepEqual(seen, ["100 pods", "5100 nodes"]);
});

test("[W119] the answers of a period arrive in one turn, in any order", async () => {
  const clock = new VirtualClock(0);
  const shuffled = new ShuffledAnswers(clock, seededRandom(3));
  const transport = shuffled.transport(new Scripted());
  const ask = async (): Promise<string[]> => {
    const seen: string[] = [];
    for (let index = 0; index < 9; index += 1) {
      void transport.request(get(`${index}`)).then(({ body }) => {
        seen.push(`${clock.nowMs()} ${String(body)}`);
      });
    }
    await clock.run();
    return seen;
  };
  const inOrder = (ms: number): string[] =>
    Array.from({ length: 9 }, (_, index) => `${ms} ${index}`);
  assert.deepEqual(await ask(), inOrder(0));
  shuffled.periodMs = 500;
  const seen = await ask();
  assert.notDeepEqual(seen, inOrder(500));
  assert.deepEqual(seen.toSorted(), inOrder(500));
});
