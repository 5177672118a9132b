// Command line flags of the programs inside a pod: "--name value", "--name=value", repeated lists,
// switches. A flag that the program does not know ends it, as it ends the real one.

export type FlagKind = "text" | "list" | "number" | "switch";

export type FlagKinds = Readonly<Record<string, FlagKind>>;

export interface Flags {
  text(name: string, fallback: string): string;
  list(name: string): readonly string[];
  number(name: string, fallback: number): number;
  isOn(name: string): boolean;
}

export function parseFlags(
  kinds: FlagKinds,
  args: readonly string[],
): { flags: Flags } | { problem: string } {
  const values = new Map<string, string[]>();
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? "";
    const match = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument);
    const name = match?.[1] ?? "";
    const kind = kinds[name];
    if (match === null || kind === undefined) {
      return { problem: `unknown argument: ${argument}` };
    }
    let value = match[2];
    if (value === undefined && kind === "switch") value = "true";
    if (value === undefined) {
      index += 1;
      value = args[index];
    }
    if (value === undefined) return { problem: `argument --${name} needs a value` };
    if (kind === "number" && !/^-?\d+$/.test(value)) {
      return { problem: `argument --${name} needs a number, not ${JSON.stringify(value)}` };
    }
    if (kind === "switch" && value !== "true" && value !== "false") {
      return { problem: `argument --${name} is true or false, not ${JSON.stringify(value)}` };
    }
    if (kind === "list") values.set(name, [...(values.get(name) ?? []), value]);
    else values.set(name, [value]);
  }
  return { flags: flagsOf(values) };
}

/** Flags that were not given may come from the environment: --log-path from LOG_PATH. */
export function flagsFromEnvironment(
  kinds: FlagKinds,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): string[] {
  const isGiven = (name: string): boolean =>
    args.some((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`));
  return Object.keys(kinds).flatMap((name) => {
    const value = environment[name.replaceAll("-", "_").toUpperCase()];
    return value === undefined || isGiven(name) ? [] : [`--${name}=${value}`];
  });
}

function flagsOf(values: ReadonlyMap<string, readonly string[]>): Flags {
  const last = (name: string): string | undefined => values.get(name)?.at(-1);
  return {
    text: (name, fallback) => last(name) ?? fallback,
    list: (name) => values.get(name) ?? [],
    number: (name, fallback) => Number(last(name) ?? fallback),
    isOn: (name) => last(name) === "true",
  };
}
