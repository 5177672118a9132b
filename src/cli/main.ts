// The command line `fdb-operator`. Each command lives in its own file and is loaded only when it is called.
import { availableParallelism } from "node:os";
import { InvalidArgumentError, Option } from "commander";
import type { DevOptions } from "./dev.ts";
import { exampleNames } from "./examples.ts";
import {
  addBackupCommands,
  addCoordinationCommands,
  addExplainCommand,
  newProgram,
  openHere,
  runProgram,
} from "./program.ts";
import { addRunCommand } from "./run-command.ts";
import type { RenderOptions } from "./render.ts";
import type { SimulateOptions } from "./simulate.ts";
import { faultNames, rareFaultNames } from "../sim/workloads/fault-names.ts";
import type { FaultName } from "../sim/workloads/fault-names.ts";
import { backupFaultNames } from "../sim/workloads/backups/backup-fault-names.ts";
import type { BackupFaultName } from "../sim/workloads/backups/backup-fault-names.ts";
import type { ValidateOptions } from "./validate.ts";
import { version } from "../env/program-version.ts";

const program = newProgram("fdb-operator", "Runs FoundationDB clusters on Kubernetes.");

addRunCommand(program, process.env);

program
  .command("dev")
  .description(
    "start an emulated Kubernetes with a simulated FoundationDB in this process, run the operator in it and show what it does",
  )
  .option(
    "-f, --file <file>",
    "file or folder with resources to create instead of the sample (repeatable)",
    collect,
  )
  .addOption(
    new Option("--example <name>", "run an example of the manual instead of the sample").choices(
      exampleNames,
    ),
  )
  .addOption(
    new Option(
      "--nodes <count>",
      "number of nodes (default: 6, or what the example needs)",
    ).argParser(integer(1, 500)),
  )
  .addOption(
    new Option(
      "--zones <count>",
      "number of zones over which the nodes are spread (default: 3, or what the example needs)",
    ).argParser(integer(1, 50)),
  )
  .addOption(
    new Option(
      "--runtime <kind>",
      "what runs in the pods: the simulated database, or real fdbservers as processes of this machine",
    )
      .choices(["simulated", "process"])
      .default("simulated"),
  )
  .addOption(
    new Option(
      "--speed <factor>",
      "virtual seconds per real second (default: 20; real processes run in real time)",
    ).argParser(between(0.01, 1000)),
  )
  .option("--seed <number>", "seed of everything that is random", integer(0, 2 ** 31), 1)
  .option(
    "--once",
    "stop when everything is reconciled: exit code 0, otherwise 1 with the reason",
    false,
  )
  .addOption(
    new Option(
      "--timeout <seconds>",
      "real seconds after which --once gives up (default: 120, with real processes 600)",
    ).argParser(between(0.001, 1_000_000)),
  )
  .addOption(
    new Option(
      "--port <port>",
      "port of the API server on 127.0.0.1; 0 picks a free one (default: 7443, with --once 0)",
    ).argParser(integer(0, 65535)),
  )
  .option("--kubeconfig <file>", "where to write the kubeconfig")
  .option("--no-dashboard", "serve no page that shows the clusters")
  .addOption(
    new Option(
      "--dashboard-port <port>",
      "port of that page on 127.0.0.1; 0 picks a free one (default: 7480, or a free one)",
    ).argParser(integer(0, 65535)),
  )
  .option("--log <file>", "write the structured log of all parts to this file, as JSON lines")
  .action(async (options: DevOptions) =>
    (await import("./dev.ts")).runDev({ ...options, environment: process.env }),
  );

program
  .command("validate")
  .description(
    "check resources offline as the API server and the operator would; exit code 1 if one is refused",
  )
  .requiredOption(
    "-f, --file <file>",
    "file or folder with resources, - for standard input (repeatable)",
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
    "file or folder with FoundationDBCluster resources, - for standard input (repeatable)",
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

program
  .command("simulate")
  .description(
    "simulate the lives of clusters in virtual time, with random changes and failures; exit code 1 if one goes wrong",
  )
  .option("--seeds <count>", "how many seeds", integer(1, 1_000_000), 10)
  .addOption(
    new Option("--seed <number>", "the first seed (default: drawn)").argParser(integer(0, 2 ** 31)),
  )
  .addOption(
    new Option(
      "--hours <number>",
      "begin lives until then, from the first seed on, instead of a number of seeds",
    )
      .argParser(between(0.001, 1000))
      .conflicts("seeds"),
  )
  .option("--steps <count>", "random things that happen in each life", integer(0, 1000), 20)
  .addOption(
    new Option(
      "--without <ids>",
      "live one seed and leave out these of the things that happen, with commas between them",
    )
      .argParser(idList)
      .conflicts(["seeds", "hours"]),
  )
  .addOption(
    new Option(
      "--faults <names>",
      "only these of the faults that last or come beside the steps, or none",
    ).argParser(faultList),
  )
  .option("--backups", "lives in which backups and restores are made, changed and deleted", false)
  .option("--no-shrink", "do not look for the smallest form of lives that go wrong")
  .option("--jobs <count>", "how many lives at once", integer(1, 1000), availableParallelism())
  .action(async (options: SimulateOptions) => (await import("./simulate.ts")).runSimulate(options));

program
  .command("version")
  .description("print the version")
  .action(() => void process.stdout.write(`${version}\n`));

addExplainCommand(program, openHere);
addCoordinationCommands(program, openHere);
addBackupCommands(program, openHere);

await runProgram(program);

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

/** Ids of what happens in a life, such as 3,7. */
function idList(text: string): string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.some((id) => !/^[a-z-]*[1-9]\d{0,3}$/.test(id))) {
    throw new InvalidArgumentError("It must be ids of events, such as 3,7.");
  }
  return ids;
}

function faultList(text: string): (FaultName | BackupFaultName)[] {
  const names = text === "none" ? [] : text.split(",").map((name) => name.trim());
  const all = [...faultNames, ...rareFaultNames, ...backupFaultNames];
  const known = names.flatMap((name) => all.filter((each) => each === name));
  if (known.length === names.length) return known;
  const usual = [...faultNames, ...rareFaultNames].join(", ");
  throw new InvalidArgumentError(
    `It must be none or some of ${usual}, and with --backups ${backupFaultNames.join(", ")}.`,
  );
}
