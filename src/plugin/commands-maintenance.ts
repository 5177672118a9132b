// `kubectl fdb maintenance`: names, flags and help. Rules: spec/maintenance.md [MNT1]-[MNT4].
import type { Command } from "commander";
import { personsMaximumMs } from "../fdb/maintenance-list.ts";
import {
  addConnectionFlags,
  addOutputFlag,
  addWriteFlags,
  durationOption,
  examples,
  inSession,
} from "./flags.ts";
import type { OutputForm } from "./flags.ts";
import type { EndFlags, StartFlags } from "./maintenance/maintenance.ts";
import type { OpenSession } from "./session.ts";

const clusterFlag = "-c, --fdb-cluster <name>";

export function addMaintenanceCommands(program: Command, open: OpenSession): void {
  const parent = program
    .command("maintenance")
    .description("a node that is away for a while, without its data being copied elsewhere");
  addStart(parent, open);
  addEnd(parent, open);
  addStatus(parent, open);
}

function addStart(parent: Command, open: OpenSession): void {
  const command = parent
    .command("start")
    .description("announce that one fault domain goes away and comes back")
    .argument("<node-or-zone>", "a node, or a fault domain as the database names it")
    .requiredOption(clusterFlag, "the FoundationDBCluster")
    .requiredOption(
      "--for <duration>",
      "how long at most, such as 30m; it ends earlier when all is back",
      durationOption(60_000, personsMaximumMs),
    );
  addWriteFlags(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples(
        "maintenance start node-3 -c sample --for 30m --dry-run",
        "maintenance start node-3 -c sample --for 30m",
      ),
    )
    .action(
      inSession(open, async (session, flags: StartFlags, name: string) =>
        (await import("./maintenance/maintenance.ts")).runMaintenanceStart(session, flags, name),
      ),
    );
}

function addEnd(parent: Command, open: OpenSession): void {
  const command = parent
    .command("end")
    .description("end a maintenance that was announced with start")
    .requiredOption(clusterFlag, "the FoundationDBCluster");
  addWriteFlags(addConnectionFlags(command))
    .addHelpText("after", examples("maintenance end -c sample --yes"))
    .action(
      inSession(open, async (session, flags: EndFlags) =>
        (await import("./maintenance/maintenance.ts")).runMaintenanceEnd(session, flags),
      ),
    );
}

function addStatus(parent: Command, open: OpenSession): void {
  const command = parent
    .command("status")
    .description("which fault domain is under maintenance, for how long, and whose it is")
    .argument("<cluster>", "name of the FoundationDBCluster");
  addOutputFlag(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("maintenance status sample", "maintenance status sample -o json"),
    )
    .action(
      inSession(open, async (session, flags: { output: OutputForm }, name: string) =>
        (await import("./maintenance/maintenance.ts")).runMaintenanceStatus(session, flags, name),
      ),
    );
}
