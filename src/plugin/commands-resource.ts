// Commands that work through the resource: they change the spec, and the operator does the rest.
// Rules: spec/plugin.md [PL40]-[PL52].
import type { Command } from "commander";
import {
  addConnectionFlags,
  addOutputFlag,
  addSelectionFlags,
  addWriteFlags,
  booleanOption,
  clusterLabelFlags,
  examples,
  inSession,
  keyValues,
} from "./flags.ts";
import type { ConfigurationFlags } from "./configuration.ts";
import type { CordonFlags } from "./cordon.ts";
import type { FaultFlags } from "./buggify.ts";
import type { OpenSession } from "./session.ts";
import type { RemovalFlags } from "./remove.ts";
import type { SelectionFlags } from "./selection.ts";

export function addResourceCommands(program: Command, open: OpenSession): void {
  addConfigurationCommand(groupOf(program, "get", "what a cluster is told and does"), open);
  addRemoveCommand(groupOf(program, "remove", "take process groups out of a cluster"), open);
  addCordonCommand(program, open);
  addBuggifyCommands(
    groupOf(program, "buggify", "faults for tests, never for a real database"),
    open,
  );
}

/** Several files add commands to one group. */
export function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((each) => each.name() === name);
  return known ?? program.command(name).description(description);
}

function addConfigurationCommand(parent: Command, open: OpenSession): void {
  const command = parent
    .command("configuration")
    .description("print the configuration of the database as `configure` of fdbcli takes it")
    .argument("<cluster...>", "names of FoundationDBClusters")
    .option("--fail-over", "with the priorities of the two regions swapped")
    .option(
      "--to <datacenter>",
      "with --fail-over: the one that comes first; swaps nothing if it does",
    )
    .option("--update", "write that to the resource, so that the operator fails over");
  addWriteFlags(addOutputFlag(addConnectionFlags(command)))
    .addHelpText(
      "after",
      examples(
        "get configuration sample",
        "get configuration sample --fail-over",
        "get configuration sample --fail-over --update --dry-run",
        "get configuration sample --fail-over --to dc2 --update --yes",
      ),
    )
    .action(
      inSession(open, async (session, flags: ConfigurationFlags, names: string[]) =>
        (await import("./configuration.ts")).runGetConfiguration(session, flags, names),
      ),
    );
}

const exclusionOption = (): ReturnType<typeof booleanOption> =>
  booleanOption(
    "-e, --exclusion [boolean]",
    "move the data away first; =false LOSES DATA that has no other copy",
    true,
  );

const confirmFlag = "--confirm <cluster>";
const confirmMeaning = "with --exclusion=false: the name of the cluster, instead of typing it";

function addRemoveCommand(parent: Command, open: OpenSession): void {
  const command = parent
    .command("process-groups")
    .description("exclude process groups, and delete their pods and volumes when that is safe")
    .argument("[names...]", "names of pods or ids of process groups")
    .addOption(exclusionOption())
    .option(confirmFlag, confirmMeaning)
    .option("--remove-all-failed", "all that the operator would replace by itself; needs -c");
  addWriteFlags(addConnectionFlags(addSelectionFlags(command)))
    .addHelpText(
      "after",
      examples(
        "remove process-groups sample-storage-12345",
        "remove process-groups -c sample --process-class=stateless --dry-run",
        "remove process-groups -c sample --process-condition=MissingProcesses --yes",
      ),
    )
    .action(
      inSession(open, async (session, flags: SelectionFlags & RemovalFlags, names: string[]) =>
        (await import("./remove.ts")).runRemove(session, flags, names),
      ),
    );
}

function addCordonCommand(program: Command, open: OpenSession): void {
  const command = clusterLabelFlags(
    program
      .command("cordon")
      .description("remove the process groups on nodes; the nodes themselves are not cordoned")
      .argument("[nodes...]", "names of nodes"),
  )
    .option("--node-selector <labels>", "nodes with these labels, such as rack=7", keyValues)
    .addOption(exclusionOption())
    .option(confirmFlag, confirmMeaning);
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("cordon node-1 node-2", "cordon -c sample --node-selector rack=7 --dry-run"),
    )
    .action(
      inSession(open, async (session, flags: CordonFlags, names: string[]) =>
        (await import("./cordon.ts")).runCordon(session, flags, names),
      ),
    );
}

function addBuggifyCommands(parent: Command, open: OpenSession): void {
  const fault = (name: "crash-loop" | "no-schedule", description: string): Command => {
    const command = parent
      .command(name)
      .description(description)
      .argument("[names...]", "names of pods or ids of process groups")
      .option("--clear", "take it back for these")
      .option("--clean", "take it back for all; needs -c");
    if (name === "crash-loop") {
      command.option("--container-name <name>", "which container", "foundationdb");
    }
    return addWriteFlags(addConnectionFlags(addSelectionFlags(command)))
      .addHelpText(
        "after",
        examples(
          `buggify ${name} -c sample sample-storage-12345`,
          `buggify ${name} -c sample --clean --yes`,
        ),
      )
      .action(
        inSession(open, async (session, flags: FaultFlags, names: string[]) =>
          (await import("./buggify.ts")).runFault(session, flags, names, name),
        ),
      );
  };
  fault("crash-loop", "make a container crash at its start");
  fault("no-schedule", "make pods that find no node");
  const command = parent
    .command("empty-monitor-conf")
    .description(
      "split image: give all pods a configuration without processes, so that the database stops",
    )
    .requiredOption("-c, --fdb-cluster <name>", "the FoundationDBCluster")
    .addOption(booleanOption("--set-value [boolean]", "=false gives it back", true));
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples(
        "buggify empty-monitor-conf -c sample",
        "buggify empty-monitor-conf -c sample --set-value=false",
      ),
    )
    .action(
      inSession(open, async (session, flags: never) =>
        (await import("./buggify.ts")).runEmptyMonitorConf(session, flags),
      ),
    );
}
