// The life of one running tool: its waits end when it is killed, and nothing that it had in hand happens afterwards.
import type { Clock } from "../../env/clock.ts";
import type { Deadline } from "../database/deadline.ts";

/** The tool was killed in the middle. */
export class ToolEnded extends Error {
  constructor() {
    super("the tool was killed");
    this.name = "ToolEnded";
  }
}

export interface ToolLife extends Deadline {
  readonly clock: Clock;
  readonly isEnded: boolean;
  /** Waits until the tool is killed. */
  hang(): Promise<never>;
  /** Fails with `late` when the work takes longer. */
  within<T>(limitMs: number, work: Promise<T>, late: () => Error): Promise<T>;
  end(): void;
}

export function startLife(clock: Clock): ToolLife {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Consumed here, so that a tool that waits for nothing can be killed too.
  ended.catch(() => {});
  const timers = new Set<{ cancel(): void }>();
  let isEnded = false;
  const timer = (delayMs: number, run: () => void): { cancel(): void } => {
    const handle = clock.setTimer(delayMs, () => {
      timers.delete(handle);
      run();
    });
    timers.add(handle);
    return handle;
  };
  return {
    clock,
    get isEnded() {
      return isEnded;
    },
    race: (promise) => Promise.race([promise, ended]),
    sleep(delayMs) {
      if (isEnded) return ended;
      const { promise, resolve } = Promise.withResolvers<void>();
      timer(delayMs, resolve);
      return Promise.race([promise, ended]);
    },
    hang: () => ended,
    async within(limitMs, work, late) {
      const { promise, reject: strike } = Promise.withResolvers<never>();
      const handle = timer(limitMs, () => strike(late()));
      try {
        return await Promise.race([work, promise, ended]);
      } finally {
        handle.cancel();
        timers.delete(handle);
      }
    },
    end() {
      isEnded = true;
      for (const handle of timers) handle.cancel();
      timers.clear();
      reject(new ToolEnded());
    },
  };
}
