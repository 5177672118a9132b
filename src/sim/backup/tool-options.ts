// Command lines of the backup tools: which options each command knows, with and without a value. An unknown option ends
// the tool, as it ends the real one. Underscores and dashes in names are the same. Carries rule BSIM7.

export interface ToolOptions {
  has(name: string): boolean;
  /** The last one given. */
  get(name: string): string | undefined;
  all(name: string): readonly string[];
}

/** Names of one option; `=` at the end says that it takes a value. */
export type OptionTable = readonly string[];

/** What every command of the tools takes. */
const common: OptionTable = [
  ...[
    "--log",
    "--logdir=",
    "--loggroup=",
    "--trace-format=",
    "--quiet|-q",
    "--crash",
    "--memory|-m=",
  ],
  ...["--build-flags", "--version|-v", "--help|-h|-?", "--devhelp", "--trace"],
  ...["--tls-certificate-file=", "--tls-key-file=", "--tls-ca-file=", "--tls-password="],
  ...["--tls-verify-peers=", "--tls-plugin="],
];

export function parseToolOptions(
  program: string,
  table: OptionTable,
  args: readonly string[],
): { options: ToolOptions } | { problem: string } {
  const names = nameTable([...common, ...table]);
  const values = new Map<string, string[]>();
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? "";
    const split = /^(--?[^=]+)=([\s\S]*)$/.exec(argument);
    const given = normal(split?.[1] ?? argument);
    if (/^--(knob|locality)-/.test(given)) {
      if (split === null) index += 1;
      continue;
    }
    const known = names.get(given);
    if (known === undefined) return { problem: unknownOption(program, argument) };
    let value = split?.[2];
    if (known.hasValue && value === undefined) {
      index += 1;
      value = args[index];
      if (value === undefined) return { problem: needsValue(program, argument) };
    }
    values.set(known.name, [...(values.get(known.name) ?? []), value ?? ""]);
  }
  return {
    options: {
      has: (name) => values.has(name),
      get: (name) => values.get(name)?.at(-1),
      all: (name) => values.get(name) ?? [],
    },
  };
}

function nameTable(table: OptionTable): Map<string, { name: string; hasValue: boolean }> {
  const names = new Map<string, { name: string; hasValue: boolean }>();
  for (const entry of table) {
    const hasValue = entry.endsWith("=");
    const [name = "", ...others] = entry.replace(/=$/, "").split("|");
    for (const alias of [name, ...others]) names.set(alias, { name, hasValue });
  }
  return names;
}

function normal(name: string): string {
  return name.startsWith("--") ? name.replaceAll("_", "-") : name;
}

function unknownOption(program: string, argument: string): string {
  return `ERROR: unknown option \`${argument}'\n${tryHelp(program)}`;
}

function needsValue(program: string, argument: string): string {
  return `ERROR: argument missing to \`${argument}'\n${tryHelp(program)}`;
}

export function tryHelp(program: string): string {
  return `Try \`${program} --help' for more information.\n`;
}
