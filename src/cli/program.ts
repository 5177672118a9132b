// What the command lines `fdb-operator` and `kubectl fdb` share: how mistakes are told, and the commands that both have.
import { Command, CommanderError, Help, Option } from "commander";
import { CommandError } from "./command-error.ts";
import type { DescribeOptions } from "./backup-describe.ts";
import type { CoordinationOptions } from "./coordination.ts";
import type { ExplainOptions } from "./explain.ts";
import { version } from "./version.ts";

export function newProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(version, "-V, --version", "print the version and exit")
    .helpOption("-h, --help", "show help")
    .configureHelp({ formatItem: itemText })
    .configureOutput({ outputError: (text, write) => write(oneLine(name, text)) })
    .exitOverride();
}

export function addExplainCommand(program: Command): void {
  program
    .command("explain")
    .description(
      "say in one page how a cluster, a backup or a restore is: what is being done, what waits for what, and what to do",
    )
    .argument("<name>", "name of the FoundationDBCluster, backup/NAME or restore/NAME")
    .option("-n, --namespace <name>", "its namespace (default: the one of the context)")
    .option("--kubeconfig <file>", "kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig")
    .addOption(
      new Option("-o, --output <form>", "how to print the page")
        .choices(["text", "json"])
        .default("text"),
    )
    .action(async (name: string, options: ExplainOptions) =>
      (await import("./explain.ts")).runExplain(name, options),
    );
}

export function addCoordinationCommands(program: Command): void {
  const parent = program
    .command("coordination")
    .description("what the instances of one database announce to each other in global mode");
  const common = (name: string, description: string): Command =>
    parent
      .command(name)
      .description(description)
      .argument("<cluster>", "name of a FoundationDBCluster of the database")
      .option("-n, --namespace <name>", "its namespace (default: the one of the context)")
      .option("--kubeconfig <file>", "kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)")
      .option("--context <name>", "context of the kubeconfig")
      .addOption(
        new Option("-o, --output <form>", "how to print").choices(["text", "json"]).default("text"),
      );
  common("show", "print every entry of the coordination sets").action(
    async (name: string, options: CoordinationOptions) =>
      (await import("./coordination.ts")).runCoordination("show", name, options),
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
    .action(async (name: string, options: CoordinationOptions) =>
      (await import("./coordination.ts")).runCoordination("clear", name, options),
    );
}

export function addBackupCommands(program: Command): void {
  program
    .command("backup")
    .description("what lies where of a backup")
    .command("describe")
    .description(
      "where a backup lies and what can be restored; -o yaml prints a FoundationDBRestore to keep elsewhere",
    )
    .argument("<backup>", "name of the FoundationDBBackup")
    .option("-n, --namespace <name>", "its namespace (default: the one of the context)")
    .option("--kubeconfig <file>", "kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig")
    .addOption(
      new Option("-o, --output <form>", "how to print").choices(["text", "yaml"]).default("text"),
    )
    .action(async (name: string, options: DescribeOptions) =>
      (await import("./backup-describe.ts")).runBackupDescribe(name, options),
    );
}

/** Runs what the arguments of the process ask for; mistakes are one line and an exit code. */
export async function runProgram(program: Command): Promise<void> {
  // A reader that has seen enough, such as `head`, is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version are no mistakes.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof CommandError) {
      process.stderr.write(`${program.name()}: ${error.message}\n`);
      process.exitCode = error.exitCode;
    } else {
      throw error;
    }
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
