// A container of which we know nothing: it runs until it is stopped. A few plain commands do what
// they say, so that jobs and failing containers can be played.
import type { Program } from "../pod/container-program.ts";

export const runGeneric: Program = (context) => {
  const words = [...context.command, ...context.args];
  const line = words[1] === "-c" ? (words[2] ?? "") : words.join(" ");
  const sleep = /^sleep (\d+(?:\.\d+)?)\b/.exec(line)?.[1];
  const code = exitCodeOf(line);
  const endsAfterMs = sleep === undefined ? 0 : Number(sleep) * 1000;
  const ends = code !== undefined || sleep !== undefined;
  const timer = ends
    ? context.clock.setTimer(endsAfterMs, () => context.exit(code ?? 0))
    : undefined;
  return {
    terminate: () => {
      timer?.cancel();
      context.exit(ends ? 143 : 0);
    },
    kill: () => timer?.cancel(),
  };
};

/** The exit code of "true", "false" and "exit 3", also after "sleep 5;" or "sleep 5 &&". */
function exitCodeOf(line: string): number | undefined {
  const last = line.split(/;|&&/).at(-1)?.trim() ?? "";
  if (last === "true") return 0;
  if (last === "false") return 1;
  const match = /^exit (\d+)$/.exec(last);
  return match === null ? undefined : Number(match[1]);
}
