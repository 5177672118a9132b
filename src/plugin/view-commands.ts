// The commands that read and show: names, flags and help. Light: what a command does is loaded when it is called.
// Rules: spec/plugin.md [VW7]-[VW18].
import { Argument, InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Shell } from "./completion/scripts.ts";
import type { OutputForm } from "./flags.ts";
import {
  addConnectionFlags,
  addOutputFlag,
  collect,
  durationOption,
  examples,
  inSession,
} from "./flags.ts";
import type { ListCommandFlags } from "./lists/lists.ts";
import type { LogsFlags } from "./logs/logs.ts";
import type { OpenSession } from "./session.ts";
import type { StatusFlags } from "./status/status.ts";
import type { TopFlags } from "./top/top.ts";

/** As they are written in their own files; named again here, since those are loaded only when they are needed. */
const sortKeys = ["cpu", "memory", "disk", "free", "queue", "lag", "name"];
const severityNames = ["debug", "info", "warning", "error"];
const shellNames = ["bash", "zsh", "fish", "kubectl"];

const clusterArgument = ["<cluster>", "name of the FoundationDBCluster"] as const;

export function addViewCommands(program: Command, open: OpenSession): void {
  addStatus(program, open);
  addTop(program, open);
  addTree(program, open);
  addPlan(program, open);
  addLogs(program, open);
  addLists(program, open);
  addCompletion(program);
}

const intervalOption = (): Option =>
  new Option("--interval <duration>", "time between two pictures")
    .default(5_000, "5s")
    .argParser(durationOption(1_000, 3_600_000));

const everywhere = ["-A, --all-namespaces", "of all namespaces"] as const;

function addStatus(program: Command, open: OpenSession): void {
  const command = program
    .command("status")
    .description("show all clusters in a table, or one in a page with the figures of its database")
    .argument("[cluster]", "name of a FoundationDBCluster (default: all of the namespace)")
    .option(...everywhere)
    .option("-w, --watch", "draw it again until Ctrl-C")
    .addOption(intervalOption());
  addOutputFlag(addConnectionFlags(command))
    .addHelpText("after", examples("status", "status -A", "status sample", "status sample --watch"))
    .action(
      inSession(open, async (session, flags: StatusFlags, name: string | undefined) =>
        (await import("./status/status.ts")).runStatus(session, flags, name),
      ),
    );
}

function addTop(program: Command, open: OpenSession): void {
  const command = program
    .command("top")
    .description("show the processes of a database: roles, processor, memory, disk, queue and lag")
    .argument(...clusterArgument)
    .addOption(new Option("--sort <by>", "what comes first").choices(sortKeys).default("cpu"))
    .option("--class <class>", "processes of this class alone, such as storage")
    .addOption(intervalOption())
    .option("--once", "print one picture, as without a terminal");
  addOutputFlag(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("top sample", "top sample --sort lag --class storage", "top sample --once -o json"),
    )
    .action(
      inSession(open, async (session, flags: TopFlags, name: string) =>
        (await import("./top/top.ts")).runTop(session, flags, name),
      ),
    );
}

function addTree(program: Command, open: OpenSession): void {
  const command = program
    .command("tree")
    .description("show where everything is: regions, halls, zones, nodes, process groups and roles")
    .argument(...clusterArgument);
  addOutputFlag(addConnectionFlags(command))
    .addHelpText("after", examples("tree sample", "tree sample -o yaml"))
    .action(
      inSession(open, async (session, flags: { output: OutputForm }, name: string) =>
        (await import("./tree/tree.ts")).runTree(session, flags, name),
      ),
    );
}

function addPlan(program: Command, open: OpenSession): void {
  const command = program
    .command("plan")
    .description("say what the operator is about to do now, and what it waits for")
    .argument(...clusterArgument);
  addOutputFlag(addConnectionFlags(command))
    .addHelpText("after", examples("plan sample", "plan sample -o json"))
    .action(
      inSession(open, async (session, flags: { output: OutputForm }, name: string) =>
        (await import("./plan/plan.ts")).runPlan(session, flags, name),
      ),
    );
}

function addLogs(program: Command, open: OpenSession): void {
  const command = program
    .command("logs")
    .description("print the logs of all pods of a cluster, merged by time")
    .argument(...clusterArgument)
    .option("-f, --follow", "go on until Ctrl-C")
    .addOption(
      new Option("--severity <least>", "leave out what is less severe")
        .choices(severityNames)
        .default("info"),
    )
    .option(
      "--since <duration>",
      "lines of the last 5m, 2h, ...",
      durationOption(1_000, 2_592_000_000),
    )
    .option(
      "--tail <lines>",
      "newest lines of each container (default: 100, all with --since)",
      lineCount,
    )
    .option("--class <class>", "of process groups of this class alone")
    .option("--process-group <id>", "of this process group or pod alone (repeatable)", collect)
    .option("-c, --container <name>", "of this container (default: foundationdb)")
    .option("--all-containers", "of every container")
    .option("-p, --previous", "of the run before the last restart");
  addOutputFlag(addConnectionFlags(command), ["text", "json"])
    .addHelpText(
      "after",
      examples(
        "logs sample --severity warning --since 1h",
        "logs sample -f --class storage",
        "logs sample --process-group log-1 --all-containers --tail 20",
      ),
    )
    .action(
      inSession(open, async (session, flags: LogsFlags, name: string) =>
        (await import("./logs/logs.ts")).runLogs(session, flags, name),
      ),
    );
}

function addLists(program: Command, open: OpenSession): void {
  const parent = (name: string, description: string): Command =>
    program.commands.find((one) => one.name() === name) ??
    program.command(name).description(description);
  const backups = parent("backup", "backups of clusters")
    .command("list")
    .description("show all backups: state, tag, what can be restored, how far it is behind")
    .option(...everywhere);
  addOutputFlag(addConnectionFlags(backups))
    .addHelpText("after", examples("backup list", "backup list -A -o json"))
    .action(
      inSession(open, async (session, flags: ListCommandFlags) =>
        (await import("./lists/lists.ts")).runBackupList(session, flags),
      ),
    );
  const restores = parent("restore", "restores of backups")
    .command("list")
    .description("show all restores: state, target, how far they are")
    .option(...everywhere);
  addOutputFlag(addConnectionFlags(restores))
    .addHelpText("after", examples("restore list", "restore list -A"))
    .action(
      inSession(open, async (session, flags: ListCommandFlags) =>
        (await import("./lists/lists.ts")).runRestoreList(session, flags),
      ),
    );
}

function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print the script that completes commands, flags and names in a shell")
    .addArgument(
      new Argument("<shell>", "the shell; kubectl for `kubectl fdb` in any of them").choices(
        shellNames,
      ),
    )
    .addHelpText(
      "after",
      [
        examples("completion bash > /etc/bash_completion.d/kubectl-fdb"),
        "  kubectl fdb completion kubectl > ~/.local/bin/kubectl_complete-fdb",
        "  chmod +x ~/.local/bin/kubectl_complete-fdb",
      ].join("\n"),
    )
    .action(async (shell: Shell, _flags: unknown, self: Command) => {
      const { completionScript } = await import("./completion/scripts.ts");
      self.configureOutput().writeOut?.(completionScript(shell));
    });
}

function lineCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= 1_000_000) return count;
  throw new InvalidArgumentError("It must be a whole number from 0 to 1000000.");
}
