// Commands that look and change nothing. Rules: spec/plugin.md [PL10], [PL80].
import type { Command } from "commander";
import type { DeprecationFlags } from "./deprecation.ts";
import { addConnectionFlags, addOutputFlag, booleanOption, examples, inSession } from "./flags.ts";
import type { OpenSession } from "./session.ts";
import type { VersionFlags } from "./version.ts";

export function addLookingCommands(program: Command, open: OpenSession): void {
  addVersionCommand(program, open);
  addDeprecationCommand(program, open);
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

function addDeprecationCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("deprecation")
    .description("show deprecated fields of clusters; exit code 1 when there are some")
    .argument("[clusters...]", "names of FoundationDBClusters (default: all of the namespace)")
    .option("--use-future-defaults", "also what will be another default, such as imageType")
    .addOption(booleanOption("--only-show-changes [boolean]", "leave out the others", true))
    .option("--show-cluster-spec", "print the whole spec without them");
  addOutputFlag(addConnectionFlags(command))
    .addHelpText("after", examples("deprecation", "deprecation sample --show-cluster-spec"))
    .action(
      inSession(open, async (session, flags: DeprecationFlags, names: string[]) =>
        (await import("./deprecation.ts")).runDeprecation(session, flags, names),
      ),
    );
}
