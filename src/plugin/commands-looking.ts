// Commands that look and change nothing. Rules: spec/plugin.md [PL10].
import type { Command } from "commander";
import { addConnectionFlags, addOutputFlag, examples, inSession } from "./flags.ts";
import type { OpenSession } from "./session.ts";
import type { VersionFlags } from "./version.ts";

export function addLookingCommands(program: Command, open: OpenSession): void {
  addVersionCommand(program, open);
}

function addVersionCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("version")
    .description("print the version of this plugin and of the operators that run")
    .option("--client-only", "of this plugin alone; asks no server")
    .option("--operator-name <name>", "Deployment of the operator (default: found by its name)")
    .option("--container-name <name>", "its container (default: operator or manager)");
  addOutputFlag(addConnectionFlags(command))
    .addHelpText(
      "after",
      examples("version", "version --client-only", "version -n databases -o json"),
    )
    .action(async (flags: VersionFlags, self: Command) => {
      const { runVersion, versionText } = await import("./version.ts");
      if (flags.clientOnly !== true) return inSession(open, runVersion)(flags, self);
      self.configureOutput().writeOut?.(versionText(flags.output, []));
    });
}
