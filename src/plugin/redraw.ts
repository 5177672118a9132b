// Draws something again and again until Ctrl-C: in place on a terminal, and only what is new in a pipe.
// Rules: spec/plugin.md [VW7], [VW12].
import { sleep } from "../env/clock.ts";
import type { Session } from "./session.ts";

export interface Drawing {
  readonly lines: readonly string[];
  /** In a pipe a drawing with the same key as the one before it is left out. */
  readonly key: string;
}

export async function redrawn(
  { clock, out, signal }: Pick<Session, "clock" | "out" | "signal">,
  intervalMs: number,
  draw: () => Promise<Drawing>,
): Promise<void> {
  let height = 0;
  let shownKey: string | undefined;
  while (!signal.aborted) {
    const { lines, key } = await draw();
    // An answer that comes after Ctrl-C would be drawn below the prompt of the shell.
    if (signal.aborted) return;
    if (out.isTerminal) {
      // Lines that have scrolled away cannot be drawn again.
      const shown = lines.slice(0, Math.max(1, out.height - 1));
      const back = height === 0 ? "" : `\u001b[${height}A\u001b[0J`;
      out.write(`${back}${shown.map((line) => `${line}\n`).join("")}`);
      height = shown.length;
    } else if (key !== shownKey) {
      out.write(`${shownKey === undefined ? "" : "\n"}${lines.join("\n")}\n`);
      shownKey = key;
    }
    await sleep(clock, intervalMs, signal);
  }
}
