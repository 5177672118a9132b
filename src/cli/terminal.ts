// Where progress goes: a region at the bottom of a terminal that is redrawn in place, or plain lines when the output is
// piped. Both write each finished line once.

export interface Output {
  /** Whether a live region is being redrawn at the moment. */
  readonly isLive: boolean;
  readonly hasColor: boolean;
  readonly width: number;
  /** A line that stays. */
  line(text: string): void;
  /** Replaces the live region; ignored where there is none. */
  live(lines: readonly string[]): void;
  /** Leaves the live region as it is and goes on below it. */
  settle(): void;
}

export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export function openOutput(stream: OutputStream, hasColor: boolean): Output {
  return stream.isTTY === true ? interactiveOutput(stream, hasColor) : plainOutput(stream);
}

function plainOutput(stream: OutputStream): Output {
  return {
    isLive: false,
    hasColor: false,
    width: 1000,
    line: (text) => void stream.write(`${text}\n`),
    live: () => {},
    settle: () => {},
  };
}

function interactiveOutput(stream: OutputStream, hasColor: boolean): Output {
  let height = 0;
  let isSettled = false;
  const erase = (): string => (height === 0 ? "" : `\u001b[${height}A\u001b[0J`);
  return {
    get isLive() {
      return !isSettled;
    },
    hasColor,
    get width() {
      return Math.max(10, (stream.columns ?? 100) - 1);
    },
    line(text) {
      stream.write(`${erase()}${text}\n`);
      height = 0;
    },
    live(lines) {
      isSettled = false;
      // Lines that have scrolled away cannot be redrawn, so that the region never exceeds the screen.
      const shown = lines.slice(0, Math.max(1, (stream.rows ?? 1000) - 1));
      stream.write(`${erase()}${shown.map((text) => `${text}\n`).join("")}`);
      height = shown.length;
    },
    settle() {
      height = 0;
      isSettled = true;
    },
  };
}
