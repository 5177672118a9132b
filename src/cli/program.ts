// What the command lines `fdb-operator` and `kubectl fdb` share: how mistakes are told, and the commands that both have.
import { Command, CommanderError, Help } from "commander";
import { CommandError } from "../env/command-error.ts";
import { version } from "../env/program-version.ts";
import { addConnectionFlags, addOutputFlag, inSession } from "../plugin/flags.ts";
import type { OpenSession } from "../plugin/session.ts";
import type { DescribeOptions } from "./backup-describe.ts";
import type { CoordinationOptions } from "./coordination.ts";
import type { ExplainOptions } from "../plugin/explain/explain.ts";

export function newProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(version, "-V, --version", "print the version and exit")
    .helpOption("-h, --help", "show help")
    .configureHelp({ formatItem: itemText })
    .configureOutput({ outputError: (text, write) => write(oneLine(name, text)) })
    .exitOverride();
}

/** The session of the person at this keyboard; loaded when a command needs it. */
export const openHere: OpenSession = async (flags) =>
  (await import("../plugin/machine-session.ts")).openMachineSession(flags);

export function addExplainCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("explain")
    .description(
      "say in one page how a cluster, a backup or a restore is: what is being done, what waits for what, and what to do",
    )
    .argument("<name>", "name of the FoundationDBCluster, backup/NAME or restore/NAME");
  addOutputFlag(addConnectionFlags(command), ["text", "json"]).action(
    inSession(open, async (session, options: ExplainOptions, name: string) =>
      (await import("../plugin/explain/explain.ts")).runExplain(session, name, options),
    ),
  );
}

export function addCoordinationCommands(program: Command, open: OpenSession): void {
  const parent = program
    .command("coordination")
    .description("what the instances of one database announce to each other in global mode");
  const common = (name: string, description: string): Command =>
    addOutputFlag(
      addConnectionFlags(
        parent
          .command(name)
          .description(description)
          .argument("<cluster>", "name of a FoundationDBCluster of the database"),
      ),
      ["text", "json"],
    );
  common("show", "print every entry of the coordination sets").action(
    inSession(open, async (session, options: CoordinationOptions, name: string) =>
      (await import("./coordination.ts")).runCoordination(session, "show", name, options),
    ),
  );
  common(
    "clear",
    "take out what an instance has left in the sets that does not work on it any more",
  )
    .requiredOption("--prefix <prefix>", "processGroupIDPrefix of that instance; may be empty")
    .option(
      "--abandoned",
      "also when its processes live: its operator is gone, and nothing new was announced for ten minutes",
    )
    .action(
      inSession(open, async (session, options: CoordinationOptions, name: string) =>
        (await import("./coordination.ts")).runCoordination(session, "clear", name, options),
      ),
    );
}

export function addBackupCommands(program: Command, open: OpenSession): void {
  const command = program
    .command("backup")
    .description("what lies where of a backup")
    .command("describe")
    .description(
      "where a backup lies and what can be restored; -o yaml prints a FoundationDBRestore to keep elsewhere",
    )
    .argument("<backup>", "name of the FoundationDBBackup");
  addOutputFlag(addConnectionFlags(command), ["text", "yaml"]).action(
    inSession(open, async (session, options: DescribeOptions, name: string) =>
      (await import("./backup-describe.ts")).runBackupDescribe(session, name, options),
    ),
  );
}

/** Runs what the arguments of the process ask for. */
export async function runProgram(program: Command): Promise<void> {
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  const code = await exitCodeOf(program, process.argv.slice(2), (text) =>
    process.stderr.write(text),
  );
  // A command that has set one itself, such as `validate`, has ended without an error of its own.
  if (code !== 0) process.exitCode = code;
}

/** Mistakes are one line and an exit code: 2 for what cannot be meant, 1 for what did not work. */
export async function exitCodeOf(
  program: Command,
  args: readonly string[],
  note: (text: string) => void,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Help and version are no mistakes.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof CommandError)) throw error;
    note(`${program.name()}: ${error.message}\n`);
    return error.exitCode;
  }
}

/** A flag with a long name stands in a line of its own, so that what it means fits into a terminal. */
function itemText(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (termWidth <= 40) {
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  }
  const lines = helper.boxWrap(description, width - 6).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** Errors of commander are one line that names the program and says what to do. */
function oneLine(name: string, message: string): string {
  const parts = message
    .split("\n")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const text = parts
    .join(" ")
    .replace(/^error: /, "")
    .replace(/\.$/, "");
  return `${name}: ${text} (--help shows what is possible)\n`;
}
