// The programs that a command inside of a container can be: a small table, and FoundationDB's own programs where the
// image has them. Anything else is not found. Carries rule WS10 of spec/streams.md.
import { binaryVersion } from "../../pod/container-program.ts";
import type { Command, CommandContext, RunningCommand } from "../../pod/container-command.ts";
import { startCommand } from "./command-life.ts";
import type { CommandProgram } from "./command-life.ts";
import { filePrograms } from "./file-programs.ts";
import { processPrograms } from "./process-programs.ts";
import { shellProgram } from "./shell.ts";
import { onTerminal } from "./terminal.ts";
import { tar } from "./tar-program.ts";
import { textPrograms } from "./text-programs.ts";
import { toolProgram } from "./tool-programs.ts";

const tools = ["fdbcli", "fdbbackup", "fdbrestore", "backup_agent"] as const;
const plain: Readonly<Record<string, CommandProgram>> = {
  ...{ ...filePrograms, ...textPrograms, ...processPrograms, tar },
};

/** Runs the words as a program of their own: no shell is put between. */
export function runInContainer(context: CommandContext): RunningCommand {
  const [name = ""] = context.words;
  const program = findProgram(context, name) ?? notFound;
  const start: Command = (around) => startCommand(around, program);
  return context.hasTerminal ? onTerminal(context, start) : start(context);
}

function findProgram(context: CommandContext, called: string): CommandProgram | undefined {
  const name = called.replace(/^(?:\/usr)?(?:\/local)?\/s?bin\//, "");
  const find = (inner: string): CommandProgram | undefined => findProgram(context, inner);
  if (name === "bash" || name === "sh") return shellProgram(name, find);
  const own = Object.hasOwn(plain, name) ? plain[name] : undefined;
  if (own !== undefined) return own;
  const path = called.includes("/") ? called : `/usr/bin/${called}`;
  const version = binaryVersion(context.files.read(path));
  if (version === undefined) return undefined;
  const base = path.split("/").at(-1) ?? "";
  const tool = tools.find((one) => one === base);
  return tool === undefined ? versionTeller(base, version) : toolProgram(tool, path);
}

/** Of a program that nobody runs by hand but to see its version. */
function versionTeller(name: string, version: string): CommandProgram {
  return async (io) => {
    if (io.context.words.some((word) => word === "--version" || word === "-v")) {
      await io.out(`FoundationDB ${version.split(".").slice(0, 2).join(".")} (v${version})\n`);
      return 0;
    }
    await io.err(`${name}: only --version can be run by hand in an emulated container\n`);
    return 1;
  };
}

/** In the words of the container runtime, with the exit code that a shell would give. */
const notFound: CommandProgram = async (io) => {
  const [name = ""] = io.context.words;
  await io.err(
    `exec failed: unable to start container process: exec: "${name}": executable file not found in $PATH\n`,
  );
  return 127;
};
