// Programs for text and for a look around: echo, head, tail, grep, wc, env and the like. Rules: spec/streams.md [WS13].
import { readArguments } from "./arguments.ts";
import { readAll } from "./command-life.ts";
import type { CommandIo, CommandProgram } from "./command-life.ts";

const echo: CommandProgram = async (io) => {
  const words = io.context.words.slice(1);
  let isEscaped = false;
  let isOpen = false;
  while (/^-[ne]+$/.test(words[0] ?? "")) {
    const word = words.shift() ?? "";
    isEscaped ||= word.includes("e");
    isOpen ||= word.includes("n");
  }
  const text = words.join(" ");
  await io.out(`${isEscaped ? unescaped(text) : text}${isOpen ? "" : "\n"}`);
  return 0;
};

const printf: CommandProgram = async (io) => {
  const [format = "", ...values] = io.context.words.slice(1);
  const used = [...values];
  const once = (): string =>
    unescaped(format).replaceAll(/%[sd%]/g, (place) =>
      place === "%%" ? "%" : (used.shift() ?? ""),
    );
  let text = once();
  for (let left = used.length; left > 0 && used.length > 0 && /%[sd]/.test(format); left -= 1) {
    text += once();
  }
  await io.out(text);
  return 0;
};

function unescaped(text: string): string {
  const known: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\" };
  return text.replaceAll(/\\([ntr\\])/g, (_all, letter: string) => known[letter] ?? letter);
}

/** The text of the files that are named, or of the input; undefined when one is missing. */
async function textOf(io: CommandIo, paths: readonly string[]): Promise<string | undefined> {
  if (paths.length === 0) return (await readAll(io)).toString("utf8");
  let text = "";
  for (const path of paths) {
    const one = io.context.files.read(path);
    if (one === undefined) {
      await io.err(`${io.context.words[0]}: ${path}: No such file or directory\n`);
      return undefined;
    }
    text += one;
  }
  return text;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function headOrTail(isHead: boolean): CommandProgram {
  return async (io) => {
    const words = io.context.words.slice(1).map((word) => word.replace(/^-(\d+)$/, "-n$1"));
    const { values, rest } = readArguments(words, "nc");
    const text = await textOf(io, rest);
    if (text === undefined) return 1;
    const bytes = values.get("c");
    const count = Math.abs(Number(bytes ?? values.get("n") ?? 10)) || 0;
    if (bytes !== undefined) {
      const whole = Buffer.from(text);
      await io.out(isHead ? whole.subarray(0, count) : whole.subarray(-count));
      return 0;
    }
    const lines = linesOf(text);
    const shown = isHead ? lines.slice(0, count) : lines.slice(Math.max(0, lines.length - count));
    await io.out(shown.map((line) => `${line}\n`).join(""));
    return 0;
  };
}

const grep: CommandProgram = async (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1));
  const [pattern = "", ...paths] = rest;
  const text = await textOf(io, paths);
  if (text === undefined) return 2;
  let wanted: RegExp;
  try {
    const source = flags.has("F") ? pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&") : pattern;
    wanted = new RegExp(source, flags.has("i") ? "i" : "");
  } catch {
    await io.err(`grep: invalid regular expression ${pattern}\n`);
    return 2;
  }
  const found = linesOf(text).filter((line) => wanted.test(line) !== flags.has("v"));
  if (flags.has("c")) await io.out(`${found.length}\n`);
  else if (!flags.has("q")) await io.out(found.map((line) => `${line}\n`).join(""));
  return found.length > 0 ? 0 : 1;
};

const wc: CommandProgram = async (io) => {
  const { flags, rest } = readArguments(io.context.words.slice(1));
  const text = await textOf(io, rest);
  if (text === undefined) return 1;
  const figures = {
    l: text.split("\n").length - 1,
    w: text.split(/\s+/).filter((word) => word !== "").length,
    c: Buffer.byteLength(text),
  };
  const wanted = (["l", "w", "c"] as const).filter((one) => flags.size === 0 || flags.has(one));
  await io.out(`${[...wanted.map((one) => String(figures[one])), ...rest].join(" ")}\n`);
  return 0;
};

const env: CommandProgram = async (io) => {
  const { environment, words } = io.context;
  const [name] = words.slice(1);
  if (name !== undefined) {
    const value = environment[name];
    if (value !== undefined) await io.out(`${value}\n`);
    return value === undefined ? 1 : 0;
  }
  const lines = Object.entries(environment).map(([key, value]) => `${key}=${value}\n`);
  await io.out(lines.toSorted().join(""));
  return 0;
};

const sleep: CommandProgram = async (io) => {
  const seconds = Number(io.context.words[1] ?? "");
  if (!Number.isFinite(seconds) || seconds < 0) {
    await io.err(`sleep: invalid time interval '${io.context.words[1] ?? ""}'\n`);
    return 1;
  }
  await io.sleep(seconds * 1000);
  return 0;
};

const says =
  (text: (io: CommandIo) => string): CommandProgram =>
  async (io) => {
    await io.out(`${text(io)}\n`);
    return 0;
  };

export const textPrograms: Readonly<Record<string, CommandProgram>> = {
  ...{ echo, printf, grep, wc, env, printenv: env, sleep },
  ...{ head: headOrTail(true), tail: headOrTail(false) },
  ":": async () => 0,
  true: async () => 0,
  false: async () => 1,
  hostname: says(({ context }) => context.pod.name),
  whoami: says(() => "root"),
  pwd: says(() => "/"),
  date: says(({ context }) => new Date(context.clock.nowMs()).toISOString()),
};
