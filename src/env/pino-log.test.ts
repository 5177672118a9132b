// Log lines as JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pinoLog } from "./pino-log.ts";

const clock = {
  nowMs: () => Date.UTC(2026, 0, 1),
  steppedMs: () => 0,
  setTimer: () => ({ cancel: () => {} }),
};

test("[KUBE70] a log line is one JSON object with the clock's time, the level and all fields", () => {
  const lines: string[] = [];
  const log = pinoLog({ clock, destination: { write: (line) => lines.push(line) } });
  log.with({ cluster: "db/sample" }).with({ step: "addPods" }).info("created a pod", { pod: "a" });
  log.debug("not shown");
  log.warn("no fields");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        level: "info",
        time: "2026-01-01T00:00:00.000Z",
        cluster: "db/sample",
        step: "addPods",
        pod: "a",
        message: "created a pod",
      },
      { level: "warn", time: "2026-01-01T00:00:00.000Z", message: "no fields" },
    ],
  );
});

test("[KUBE70] a field called message keeps its value beside the line's own message", () => {
  const lines: string[] = [];
  const log = pinoLog({ clock, destination: { write: (line) => lines.push(line) } });
  log.info("waiting", { reason: "PodPending", message: "2 pods have no node" });
  const {
    level: _level,
    time: _time,
    ...rest
  } = JSON.parse(lines[0] ?? "") as object & {
    level: string;
    time: string;
  };
  assert.equal(lines[0]?.match(/"message"/g)?.length, 1);
  assert.deepEqual(rest, {
    reason: "PodPending",
    detail: "2 pods have no node",
    message: "waiting",
  });
});

test("[KUBE71] an error in a log line is a text, with stack and codes beside it", () => {
  const lines: string[] = [];
  const log = pinoLog({ clock, destination: { write: (line) => lines.push(line) } });
  const failure = Object.assign(new Error("lost the race"), {
    status: 409,
    reason: "Conflict",
    token: "secret",
  });
  log.error("failed", { error: failure });
  log.error("failed", { error: "text", reason: "own" });
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const { stack, level: _level, time: _time, ...rest } = first ?? {};
  assert.deepEqual(rest, {
    error: "Error: lost the race",
    errorStatus: 409,
    errorReason: "Conflict",
    message: "failed",
  });
  assert.equal(typeof stack, "string");
  assert.equal(second?.["error"], "text");
  assert.equal(second?.["reason"], "own");
});
