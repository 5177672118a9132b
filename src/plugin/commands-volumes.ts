// `kubectl fdb volumes`: names, flags and help. Rules: spec/adoption.md [ADO9].
import type { Command } from "commander";
import { addConnectionFlags, addWriteFlags, examples, inSession } from "./flags.ts";
import type { WriteFlags } from "./flags.ts";
import type { OpenSession } from "./session.ts";

export function addVolumeCommands(program: Command, open: OpenSession): void {
  const parent = program
    .command("volumes")
    .description("volumes of databases that outlived everything else");
  const rebind = parent
    .command("rebind")
    .description("give volumes that outlived their claims to a resource that adopts them")
    .argument("<cluster>", "name of a FoundationDBCluster with spec.adopt")
    .argument("[volumes...]", "names of PersistentVolumes; all of the cluster without");
  addWriteFlags(addConnectionFlags(rebind))
    .addHelpText(
      "after",
      examples("volumes rebind sample --dry-run", "volumes rebind sample pvc-1 pvc-2 --yes"),
    )
    .action(
      inSession(open, async (session, flags: WriteFlags, name: string, volumes: string[]) =>
        (await import("./rebind.ts")).runRebind(session, flags, name, volumes),
      ),
    );
}
