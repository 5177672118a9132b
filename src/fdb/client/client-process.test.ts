// A client process and limits that are over because the operator's clock was set. Rules: spec/real-database.md [DB12].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../env/clock.ts";
import { ScriptedChild } from "../../../test/fixtures/scripted-child.ts";
import type { ChildRequest } from "./child-messages.ts";
import { defaultClientLimits } from "./client-limits.ts";
import { ClientProcess } from "./client-process.ts";

/** All timers that are due when it is set forward end at once, as those of the machine's clock do. */
class SetClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  steppedMs(): number {
    throw new Error("a client process remembers nothing over a step");
  }

  setTimer(delayMs: number, run: () => void) {
    const timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  setForward(byMs: number): void {
    this.#nowMs += byMs;
    for (const timer of [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs)) {
      if (this.#timers.delete(timer)) timer.run();
    }
  }

  advance(ms: number): void {
    for (let step = 0; step < ms; step += 100) this.setForward(100);
  }
}

function stage() {
  const [clock, child, happened] = [new SetClock(), new ScriptedChild(), [] as string[]];
  const process = new ClientProcess({
    ...{ clock, limits: defaultClientLimits, handle: child, number: 1 },
    events: {
      ready: () => {},
      lost: (_, reason) => void happened.push(`lost: ${reason}`),
      stuck: (_, __, reason) => void happened.push(`stuck: ${reason}`),
      grown: () => {},
      ended: () => {},
    },
  });
  child.ready();
  const seat = process.seat({ connectionString: "d", commandPath: "fdbcli" });
  const ask = (): ChildRequest => {
    process.ask(seat, { name: "excluded", input: null, timeoutMs: 1_000 }, () => {});
    return child.requests.at(-1) as ChildRequest;
  };
  return { clock, child, happened, ask };
}

test("[DB12] no process is killed because our clock was set forward or we stood still", () => {
  const { clock, child, happened, ask } = stage();
  clock.advance(5_000);
  const request = ask();
  // A ping and a call are under way.
  clock.setForward(60_000);
  assert.deepEqual(happened, []);
  child.answer(request, []);
  clock.advance(4_000);
  assert.deepEqual(happened, []);
  assert.equal(child.isKilled, false);
});

test("[DB12] who says nothing after that is killed soon", () => {
  const { clock, child, happened, ask } = stage();
  clock.advance(5_000);
  ask();
  clock.setForward(60_000);
  clock.advance(5_000);
  assert.deepEqual(happened.toSorted(), ["lost: it does not answer"]);
  assert.equal(child.isKilled, true);
});
