// The trace of a world and its hash.
import assert from "node:assert/strict";
import { test } from "node:test";
import { traceLog } from "./trace-log.ts";
import { Trace } from "./trace.ts";
import { VirtualClock } from "../env/virtual-clock.ts";

test("[SIM6] equal lines give equal hashes, and any difference another one", async () => {
  const write = async (last: string): Promise<string> => {
    const clock = new VirtualClock();
    const trace = new Trace({ clock });
    trace.append("pod/a", "created", { node: "n1" });
    await clock.advance(5);
    trace.append("pod/a", last);
    return trace.hash();
  };
  assert.equal(await write("ready"), await write("ready"));
  assert.notEqual(await write("ready"), await write("readx"));
});

test("[SIM7] only the last lines are kept, all are counted", () => {
  const seen: string[] = [];
  const trace = new Trace({
    clock: new VirtualClock(0),
    keepLines: 2,
    onLine: (line) => seen.push(line),
  });
  for (let index = 0; index < 9; index += 1) trace.append("a", `event ${index}`);
  assert.deepEqual(trace.lines(), ["0 a event 7", "0 a event 8"]);
  assert.equal(trace.count, 9);
  assert.equal(seen.length, 9);
});

test("[SIM9] what a component logs becomes part of the trace", () => {
  const trace = new Trace({ clock: new VirtualClock(0), keepLines: 9 });
  const log = traceLog(trace, "operator").with({ cluster: "db/a" });
  log.info("created a pod", { pod: "p" });
  log.debug("left out");
  assert.deepEqual(trace.lines(), ['0 operator info: created a pod {"cluster":"db/a","pod":"p"}']);
});

test("[SIM10] where in the source an error happened is shown, and is no part of the history", () => {
  const write = (place: string): Trace => {
    const trace = new Trace({ clock: new VirtualClock(0), keepLines: 9 });
    const stack = `Error: no\nluck\n    at ${place}`;
    traceLog(trace, "operator").error("a pass failed", { error: "no\nluck", stack });
    return trace;
  };
  const one = write("run (file:///here/a.ts:1:2)");
  assert.deepEqual(one.lines(), [
    '0 operator error: a pass failed {"error":"no\\nluck","stack":"Error: no\\nluck"}',
    "    at run (file:///here/a.ts:1:2)",
  ]);
  assert.equal(one.count, 1);
  assert.equal(one.hash(), write("go (file:///there/b.ts:3:4)").hash());
});
