// `kubectl fdb quarantine`: names, flags and help. Rules: spec/quarantine.md [QUA10], [QUA11].
import type { Command } from "commander";
import { addConnectionFlags, addOutputFlag, addWriteFlags, examples, inSession } from "./flags.ts";
import type { OutputForm } from "./flags.ts";
import type { RestoreVolumeFlags } from "./quarantine.ts";
import type { OpenSession } from "./session.ts";

export function addQuarantineCommands(program: Command, open: OpenSession): void {
  const parent = program
    .command("quarantine")
    .description("volumes of removed process groups that wait before they are deleted");
  const list = parent
    .command("list")
    .description("what waits, until when, and what is kept for good")
    .argument("[clusters...]", "names of FoundationDBClusters; all of the namespace without");
  addOutputFlag(addConnectionFlags(list))
    .addHelpText("after", examples("quarantine list", "quarantine list sample -o json"))
    .action(
      inSession(open, async (session, flags: { output: OutputForm }, names: string[]) =>
        (await import("./quarantine.ts")).runQuarantineList(session, names, flags),
      ),
    );
  const restore = parent
    .command("restore")
    .description("give volumes back to their cluster: their process groups start on them again")
    .argument("<names...>", "names of volume claims or ids of process groups")
    .requiredOption("-c, --fdb-cluster <name>", "the FoundationDBCluster");
  addWriteFlags(addConnectionFlags(restore))
    .addHelpText(
      "after",
      examples(
        "quarantine restore -c sample storage-12345 --dry-run",
        "quarantine restore -c sample sample-storage-12345-data --yes",
      ),
    )
    .action(
      inSession(open, async (session, flags: RestoreVolumeFlags, names: string[]) =>
        (await import("./quarantine.ts")).runQuarantineRestore(session, flags, names),
      ),
    );
}
