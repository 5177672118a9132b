// Commands that go into pods: what looks at the database from inside, restarts servers, and helps a database that is lost.
// Rules: spec/plugin.md [PL60]-[PL76].
import type { Command } from "commander";
import type { AnalyzeFlags } from "./analyze.ts";
import { groupOf } from "./commands-resource.ts";
import type { ConnectionFlagsOf } from "./connection-commands.ts";
import type { ExclusionFlags } from "./exclusion-status.ts";
import {
  addConnectionFlags,
  addOutputFlag,
  addSelectionFlags,
  addWriteFlags,
  booleanOption,
  collectNames,
  durationOption,
  examples,
  inSession,
} from "./flags.ts";
import type { RecoverCoordinatorsFlags } from "./recover-coordinators.ts";
import type { RecoverFlags } from "./recover.ts";
import type { RestartFlags } from "./restart.ts";
import type { OpenSession } from "./session.ts";

export function addPodCommands(program: Command, open: OpenSession): void {
  addExecCommand(program, open);
  addExclusionCommand(groupOf(program, "get", "what a cluster is told and does"), open);
  addAnalyzeCommand(program, open);
  addRestartCommand(program, open);
  addFixCommand(program, open);
  addUpdateCommand(groupOf(program, "update", "change what the operator cannot change"), open);
  addRecoverCoordinatorsCommand(program, open);
  addRecoverCommand(program, open);
}

const confirmFlag = "--confirm <cluster>";
const confirmMeaning =
  "where it cannot be told that the coordinators are lost: the name of the cluster, instead of typing it";
const clusterFlag = "-c, --fdb-cluster <name>";

function addExecCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("exec")
    .description("run a command, or a shell, in a running pod of a cluster")
    .requiredOption(clusterFlag, "the FoundationDBCluster")
    .argument("[command...]", "after --: the command and its arguments (default: bash)");
  addConnectionFlags(command)
    .addHelpText("after", examples("exec -c sample", "exec -c sample -- fdbcli --exec status"))
    .action(
      inSession(open, async (session, flags: { fdbCluster: string }, given: string[]) =>
        (await import("./exec.ts")).runExec(session, flags, given),
      ),
    );
}

function addExclusionCommand(parent: Command, open: OpenSession): void {
  const command = parent
    .command("exclusion-status")
    .description("show how much data is left on excluded processes, until none is")
    .argument("<cluster>", "name of the FoundationDBCluster")
    .addOption(
      booleanOption("--ignore-fully-excluded [boolean]", "leave out those without data", true),
    )
    .option("--interval <duration>", "how often", durationOption(1_000, 86_400_000), 60_000)
    .option("--once", "look once; so do -o json and -o yaml");
  addOutputFlag(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("get exclusion-status sample --interval 10s", "get exclusion-status sample -o json"),
    )
    .action(
      inSession(open, async (session, flags: ExclusionFlags, name: string) =>
        (await import("./exclusion-status.ts")).runExclusionStatus(session, flags, name),
      ),
    );
}

function addAnalyzeCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("analyze")
    .description("say what is wrong with clusters; exit code 1 when something is")
    .argument("[clusters...]", "names of FoundationDBClusters")
    .option("--all-clusters", "all of the namespace")
    .option("--auto-fix", "remove process groups that have failed, data moved away first")
    .option("--analyze-status", "also what the processes of the database complain about")
    .option("--ignore-condition <condition>", "leave it out (repeatable)", collectNames)
    .addOption(booleanOption("--ignore-removals [boolean]", "count removals only", true))
    .option("--no-color", "no colours");
  addWriteFlags(addOutputFlag(addConnectionFlags(command)))
    .addHelpText(
      "after",
      examples("analyze sample", "analyze --all-clusters -o json", "analyze sample --auto-fix"),
    )
    .action(
      inSession(open, async (session, flags: AnalyzeFlags, names: string[]) =>
        (await import("./analyze.ts")).runAnalyze(session, flags, names),
      ),
    );
}

function addRestartCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("restart")
    .description("restart fdbserver in pods, one pod after the other")
    .argument("[names...]", "names of pods or ids of process groups")
    .option("--all-processes", "of all process groups; needs -c")
    .option("-z, --sleep <duration>", "pause between two pods", durationOption(0, 3_600_000), 0);
  addWriteFlags(addConnectionFlags(addSelectionFlags(command)))
    .addHelpText(
      "after",
      examples(
        "restart sample-storage-12345",
        "restart -c sample --process-class=stateless --sleep=30s",
        "restart -c sample --all-processes --dry-run",
      ),
    )
    .action(
      inSession(open, async (session, flags: RestartFlags, names: string[]) =>
        (await import("./restart.ts")).runRestart(session, flags, names),
      ),
    );
}

function addFixCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("fix-coordinator-ips")
    .description("give a lost database the addresses that its coordinators have now")
    .requiredOption(clusterFlag, "the FoundationDBCluster")
    .option(confirmFlag, confirmMeaning);
  addWriteFlags(addConnectionFlags(command))
    .addHelpText("after", examples("fix-coordinator-ips -c sample --dry-run"))
    .action(
      inSession(open, async (session, flags: ConnectionFlagsOf) =>
        (await import("./connection-commands.ts")).runFixCoordinators(session, flags),
      ),
    );
}

function addUpdateCommand(parent: Command, open: OpenSession): void {
  const command = parent
    .command("connection-string")
    .description("give a lost database another connection string")
    .requiredOption(clusterFlag, "the FoundationDBCluster")
    .option(confirmFlag, confirmMeaning)
    .argument("<connection-string>", "as in a cluster file: description:id@address,address");
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("update connection-string -c sample sample:abc@10.1.0.7:4501 --dry-run"),
    )
    .action(
      inSession(open, async (session, flags: ConnectionFlagsOf, given: string) =>
        (await import("./connection-commands.ts")).runUpdateConnection(session, flags, given),
      ),
    );
}

function addRecoverCoordinatorsCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("recover-coordinators")
    .description("MAY LOSE DATA: bring a database back whose majority of coordinators is lost")
    .argument("<cluster>", "name of the FoundationDBCluster")
    .option("--from <pod>", "the coordinator whose state counts, when several are left")
    .option("--confirm <cluster>", "its name once more, instead of typing it")
    .option("--accept-loss", "accept that the last transactions may be lost, instead of typing it");
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("recover-coordinators sample --dry-run", "recover-coordinators sample"),
    )
    .action(
      inSession(open, async (session, flags: RecoverCoordinatorsFlags, name: string) =>
        (await import("./recover-coordinators.ts")).runRecoverCoordinators(session, flags, name),
      ),
    );
}

function addRecoverCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("recover-multi-region-cluster")
    .description("LOSES DATA: make a database serve from one region when the others are gone")
    .argument("<cluster>", "name of the FoundationDBCluster in the region that is left")
    .option("--confirm <cluster>", "its name once more, instead of typing it");
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples(
        "recover-multi-region-cluster sample-dc2 --dry-run",
        "recover-multi-region-cluster sample-dc2",
      ),
    )
    .action(
      inSession(open, async (session, flags: RecoverFlags, name: string) =>
        (await import("./recover.ts")).runRecover(session, flags, name),
      ),
    );
}
