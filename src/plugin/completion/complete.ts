// What can stand where the cursor is: found from the commands themselves, so that no list has to be kept. Names of the
// cluster's own things are asked for by whoever calls this. Pure. Rules: spec/plugin.md [VW19], [VW20].
import type { Argument, Command, Option } from "commander";

/** Names that only a server knows. */
export type LiveKind =
  | "clusters"
  | "backups"
  | "restores"
  | "subjects"
  | "namespaces"
  | "pods"
  | "processGroups";

export interface Wanted {
  /** What is to be completed, without a flag before it. */
  readonly begun: string;
  /** Stands before each answer, such as `--output=`. */
  readonly prefix: string;
  /** Words that are known, with what they mean. */
  readonly words: readonly (readonly [word: string, meaning: string])[];
  readonly live?: LiveKind;
  /** File names may stand here. */
  readonly isFile: boolean;
  /** Flags that lead to the server, as they stand on the line so far. */
  readonly flags: Readonly<Record<string, string>>;
  /** What stands on the line already besides flags. */
  readonly given: readonly string[];
}

/** All words behind `kubectl fdb`; the last one is begun, and may be empty. */
export function wantedAt(program: Command, line: readonly string[]): Wanted {
  const begun = line.at(-1) ?? "";
  let command = program;
  const given: string[] = [];
  const flags: Record<string, string> = {};
  let open: Option | undefined;
  for (const word of line.slice(0, -1)) {
    if (open !== undefined) {
      flags[open.attributeName()] = word;
      open = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      const [name = "", value] = word.split(/=(.*)/s);
      const option = optionOf(command, name);
      if (option === undefined) continue;
      if (value !== undefined) flags[option.attributeName()] = value;
      else if (option.required) open = option;
    } else {
      const deeper = given.length === 0 ? subcommandOf(command, word) : undefined;
      if (deeper === undefined) given.push(word);
      else command = deeper;
    }
  }
  const common = { begun, prefix: "", flags, given };
  if (open !== undefined) return { ...common, ...ofOption(open) };
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(begun) ?? [];
  const assigned = flag === undefined ? undefined : optionOf(command, flag);
  if (assigned !== undefined) {
    return { ...common, begun: value ?? "", prefix: `${flag}=`, ...ofOption(assigned) };
  }
  if (begun.startsWith("-")) {
    return { ...common, words: flagWords(command), isFile: false };
  }
  const names = given.length === 0 ? commandWords(command) : [];
  if (names.length > 0) return { ...common, words: names, isFile: false };
  return { ...common, ...ofArgument(argumentAt(command, given.length)) };
}

function subcommandOf(command: Command, word: string): Command | undefined {
  return command.commands.find((one) => one.name() === word || one.aliases().includes(word));
}

/** Flags of a program stand behind its commands, too. */
function optionsOf(command: Command): Option[] {
  const own = command.options.filter(({ hidden }) => !hidden);
  return command.parent === null ? own : [...own, ...optionsOf(command.parent)];
}

function optionOf(command: Command, name: string): Option | undefined {
  return optionsOf(command).find(({ long, short }) => long === name || short === name);
}

function flagWords(command: Command): [string, string][] {
  const found = new Map<string, string>();
  for (const { long, description } of optionsOf(command)) {
    if (long !== undefined && long !== null && !found.has(long)) found.set(long, description);
  }
  found.set("--help", "show help");
  return [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function commandWords(command: Command): [string, string][] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one): [string, string] => [one.name(), one.summary() || one.description()])
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function argumentAt(command: Command, index: number): Argument | undefined {
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  return all[index] ?? (last?.variadic === true ? last : undefined);
}

type Answer = Pick<Wanted, "isFile" | "live" | "words">;

function ofOption(option: Option): Answer {
  if (option.argChoices !== undefined) return choices(option.argChoices);
  return byName(option.long?.slice(2) ?? "");
}

function ofArgument(argument: Argument | undefined): Answer {
  if (argument === undefined) return { words: [], isFile: false };
  if (argument.argChoices !== undefined) return choices(argument.argChoices);
  return byName(argument.name());
}

function choices(words: readonly string[]): Answer {
  return { words: words.map((word) => [word, ""] as const), isFile: false };
}

const liveNames: readonly (readonly [RegExp, LiveKind])[] = [
  [/^(fdb-)?clusters?$/, "clusters"],
  [/^backups?$/, "backups"],
  [/^restores?$/, "restores"],
  [/^name$/, "subjects"],
  [/namespaces?$/, "namespaces"],
  [/process-?groups?(-ids?)?$/, "processGroups"],
  [/^pods?$/, "pods"],
];
const fileNames = /^(kubeconfig|file|filename|from|save|directory|dir|out)$/;

/** Arguments and flags are named for what they take. */
function byName(name: string): Answer {
  const live = liveNames.find(([pattern]) => pattern.test(name))?.[1];
  return {
    words: [],
    isFile: fileNames.test(name),
    ...(live === undefined ? {} : { live }),
  };
}

/** As kubectl reads it: a word in a line, with a tab before its meaning; then how to go on. */
export function completionText(wanted: Wanted, live: readonly string[]): string {
  const { begun, prefix, words, isFile } = wanted;
  const all = [...words, ...live.map((word) => [word, ""] as const)];
  const lines = all
    .filter(([word]) => word.startsWith(begun))
    .map(([word, meaning]) => {
      const text = meaning.replace(/\s+/g, " ");
      return `${prefix}${word}${text === "" ? "" : `\t${text}`}\n`;
    });
  // 4: nothing else may stand here; 0: files may.
  return `${lines.join("")}:${isFile ? 0 : 4}\n`;
}
