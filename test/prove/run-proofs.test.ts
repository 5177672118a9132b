// Proofs as processes: what they print, how they end, and that nothing of them is left.
import { strict as assert } from "node:assert";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { machineClock } from "../../src/env/clock.ts";
import { eventually } from "../eventually.ts";
import type { Proof } from "./proof.ts";
import { runProofs } from "./run-proofs.ts";
import type { RunOptions } from "./run-proofs.ts";

const folder = mkdtempSync(join(tmpdir(), "fdb-prove-"));
const clock = machineClock();
after(() => {
  clock.stop();
  rmSync(folder, { recursive: true });
});

function proofOf(name: string, program: string, limitMinutes = 5): Proof {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, program);
  return {
    ...{ name, half: "simulated", what: name, needs: [], limitMinutes, command: [file] },
    figure: /^figure: /,
  };
}

function optionsOf(given: Partial<RunOptions> = {}): RunOptions & { said: string[] } {
  const said: string[] = [];
  const { signal } = new AbortController();
  return {
    ...{ clock, environment: {}, minutes: 5, signal, said },
    say: (line) => void said.push(line),
    ...given,
  };
}

/** Starts another process that never ends and tells who it is, then never ends itself, asked to or not. */
const stubborn = (pidFile: string): string => `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  process.on("SIGTERM", () => process.exit(1));
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('ready')"]);
  child.stdout.once("data", () => writeFileSync(${JSON.stringify(pidFile)}, String(child.pid)));
  setInterval(() => {}, 1000);
`;

test("[PROVE4] figures are taken from the output; the end of what failed is shown", async () => {
  const options = optionsOf();
  const { results } = await runProofs(
    [
      proofOf(
        "good",
        `console.log("hello\\nfigure: 3 of 3"); process.stdout.write("figure: last");`,
      ),
      proofOf("bad", `console.log("figure: 1 of 3"); console.error("because"); process.exit(3);`),
    ],
    options,
  );
  assert.deepEqual(
    results.map(({ proof, verdict, figures }) => [proof.name, verdict, figures]),
    [
      ["good", "proven", ["3 of 3", "last"]],
      ["bad", "FAILED", ["1 of 3"]],
    ],
  );
  assert.ok(options.said.includes("        | because"));
  assert.ok(!options.said.includes("        | hello"));
});

test("[PROVE3] a proof that takes too long ends", async () => {
  const endless = proofOf("endless", "setInterval(() => {}, 1000);", 0.005);
  const { results } = await runProofs([endless], optionsOf());
  assert.deepEqual(
    results.map(({ verdict }) => verdict),
    ["TOOK TOO LONG"],
  );
});

test("[PROVE3] an interrupt ends everything that a proof has started, and skips the rest", async () => {
  const pidFile = join(folder, "pid");
  const interruption = new AbortController();
  const proofs = [proofOf("stubborn", stubborn(pidFile)), proofOf("later", "")];
  const running = runProofs(proofs, optionsOf({ signal: interruption.signal }));
  await eventually("its child runs", async () => (existsSync(pidFile) ? true : undefined));
  const pid = Number(readFileSync(pidFile, "utf8"));
  interruption.abort();
  const { results, skipped } = await running;
  assert.deepEqual(
    results.map(({ verdict }) => verdict),
    ["interrupted"],
  );
  assert.deepEqual(
    skipped.map(({ proof, why }) => [proof.name, why]),
    [["later", "the run was interrupted before it"]],
  );
  await eventually("its child is gone", async () => (isRunning(pid) ? undefined : true));
});

test("[PROVE3] nothing begins when the time of all is over", async () => {
  const proofs = [proofOf("first", ""), proofOf("second", "")];
  let nowMs = 0;
  const options = optionsOf({ minutes: 1 });
  const say = (line: string): void => {
    options.say(line);
    // The first one has used all of it.
    if (line.includes("proven")) nowMs += 61_000;
  };
  const stepped = {
    nowMs: () => nowMs,
    steppedMs: () => 0,
    setTimer: () => ({ cancel: () => {} }),
  };
  const { results, skipped } = await runProofs(proofs, { ...options, clock: stepped, say });
  assert.equal(results.length, 1);
  assert.deepEqual(
    skipped.map(({ proof, why }) => [proof.name, why]),
    [["second", "no time was left of --minutes 1"]],
  );
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
