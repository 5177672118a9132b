// The command line `fdb-operator`. Each command lives in its own file and is loaded only when it is called.
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { CommandError } from "./command-error.ts";
import type { DevOptions } from "./dev.ts";
import type { RenderOptions } from "./render.ts";
import type { ValidateOptions } from "./validate.ts";
import { version } from "./version.ts";

const program = new Command("fdb-operator")
  .description("Runs FoundationDB clusters on Kubernetes.")
  .version(version, "-V, --version", "print the version and exit")
  .helpOption("-h, --help", "show help")
  .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
  .exitOverride();

program
  .command("dev")
  .description(
    "start an emulated Kubernetes with a simulated FoundationDB in this process, run the operator in it and show what it does",
  )
  .option("-f, --file <file>", "resources to create instead of the sample (repeatable)", collect)
  .option("--nodes <count>", "number of nodes", integer(1, 500), 6)
  .option("--zones <count>", "number of zones over which the nodes are spread", integer(1, 50), 3)
  .option("--speed <factor>", "virtual seconds per real second", between(0.01, 1000), 20)
  .option("--seed <number>", "seed of everything that is random", integer(0, 2 ** 31), 1)
  .option(
    "--once",
    "stop when everything is reconciled: exit code 0, otherwise 1 with the reason",
    false,
  )
  .option(
    "--timeout <seconds>",
    "real seconds after which --once gives up",
    between(0.001, 1_000_000),
    120,
  )
  .addOption(
    new Option(
      "--port <port>",
      "port of the API server on 127.0.0.1; 0 picks a free one (default: 7443, with --once 0)",
    ).argParser(integer(0, 65535)),
  )
  .option("--kubeconfig <file>", "where to write the kubeconfig")
  .option("--log <file>", "write the structured log of all parts to this file, as JSON lines")
  .action(async (options: DevOptions) => (await import("./dev.ts")).runDev(options));

program
  .command("validate")
  .description(
    "check resources offline as the API server and the operator would; exit code 1 if one is refused",
  )
  .requiredOption(
    "-f, --file <file>",
    "file with resources, - for standard input (repeatable)",
    collect,
  )
  .addOption(
    new Option("-o, --output <form>", "how to print findings")
      .choices(["text", "json"])
      .default("text"),
  )
  .action(async (options: ValidateOptions) => (await import("./validate.ts")).runValidate(options));

program
  .command("render")
  .description("print the objects that the operator would create for a FoundationDBCluster")
  .requiredOption(
    "-f, --file <file>",
    "file with FoundationDBCluster resources, - for standard input (repeatable)",
    collect,
  )
  .addOption(
    new Option("-o, --output <form>", "how to print objects")
      .choices(["yaml", "json"])
      .default("yaml"),
  )
  .option("--seed <number>", "seed of the process group numbers", integer(0, 2 ** 31), 1)
  .option("-n, --namespace <name>", "namespace of resources that name none", "default")
  .action(async (options: RenderOptions) => (await import("./render.ts")).runRender(options));

program
  .command("crds")
  .description("print the CustomResourceDefinitions, ready for kubectl apply -f -")
  .action(async () => (await import("./crds.ts")).runCrds());

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else if (error instanceof CommandError) {
    process.stderr.write(`fdb-operator: ${error.message}\n`);
    process.exitCode = error.exitCode;
  } else {
    throw error;
  }
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

function integer(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < from || value > to || text.trim() === "") {
      throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
    }
    return value;
  };
}

function between(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!(value >= from && value <= to)) {
      throw new InvalidArgumentError(`It must be a number from ${from} to ${to}.`);
    }
    return value;
  };
}

/** Errors of commander are one line that names the program and says what to do. */
function oneLine(message: string): string {
  const parts = message
    .split("\n")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const text = parts
    .join(" ")
    .replace(/^error: /, "")
    .replace(/\.$/, "");
  return `fdb-operator: ${text} (--help shows what is possible)\n`;
}
