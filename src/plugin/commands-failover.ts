// `kubectl fdb failover`: name, flags and help. Rules: spec/failover.md [FO1].
import { Option } from "commander";
import type { Command } from "commander";
import {
  addConnectionFlags,
  addOutputFlag,
  addWriteFlags,
  collectNames,
  durationOption,
  examples,
  inSession,
} from "./flags.ts";
import type { FailoverFlags } from "./failover/failover.ts";
import type { OpenSession } from "./session.ts";

export function addFailoverCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("failover")
    .description("make another datacenter the primary one, in all resources of the database")
    .argument("<cluster>", "name of a FoundationDBCluster of the database")
    .requiredOption("--to <datacenter>", "the one that is to be the primary")
    .option(
      "--other-context <name>",
      "where other resources of the database are (repeatable)",
      collectNames,
    )
    .addOption(
      new Option("--max-lag <duration>", "how far it may be behind")
        .argParser(durationOption(0, 20_000))
        .default(5_000, "5s"),
    )
    .addOption(
      new Option("--timeout <duration>", "how long to wait for it, 0s not at all")
        .argParser(durationOption(0, 3_600_000))
        .default(300_000, "5m"),
    );
  addWriteFlags(addOutputFlag(addConnectionFlags(command)))
    .addHelpText(
      "after",
      examples(
        "failover main --to dc2 --dry-run",
        "failover main --to dc2 --other-context west --other-context satellite",
        "failover main --to dc1 --yes -o json",
      ),
    )
    .action(
      inSession(open, async (session, flags: FailoverFlags, name: string) =>
        (await import("./failover/failover.ts")).runFailover(session, flags, name, open),
      ),
    );
}
