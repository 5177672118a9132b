// A signal to a bench or a scenario ends what it started, too.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test } from "node:test";
import { eventually } from "./eventually.ts";

const file = path.join(import.meta.dirname, "fixtures/program-with-program.ts");

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`programs that a process started end with it: ${signal}`, async () => {
    const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const started = Number(String(line));
    assert.ok(isAlive(started));
    child.kill(signal);
    await once(child, "exit");
    assert.equal(child.signalCode, signal);
    await eventually("the program has ended", async () => !isAlive(started) || undefined);
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
