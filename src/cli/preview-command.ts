// The command `preview` of `kubectl fdb`: flags and help. Light: what it does is loaded when it is called.
// Rules: spec/preview.md [PV11].
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { UsageError } from "../env/command-error.ts";
import {
  addConnectionFlags,
  addOutputFlag,
  collect,
  durationOption,
  examples,
  inSession,
} from "../plugin/flags.ts";
import type { OpenSession, Session } from "../plugin/session.ts";
import type { PreviewFlags } from "./preview.ts";

const hourMs = 3_600_000;

const previewExamples = [
  "preview sample -f changed.yaml",
  "preview sample --set spec.processCounts.storage=5",
  "preview sample --upgrade 7.3.79 --fail-on recoveries>1,blocked",
  "preview sample --lose-node node-3",
  "preview sample --save picture",
  "preview --from picture -f changed.yaml -o json",
];

export function addPreviewCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("preview")
    .description(
      "say what a change or a fault would lead to, by letting the operator do it in a simulated copy; changes nothing",
    )
    .argument("[cluster]", "name of the FoundationDBCluster; may be left out with --from")
    .option(
      "-f, --file <file>",
      "the changed FoundationDBCluster, as kubectl apply takes it: what others have set stays",
    )
    .option("--server-side", "apply the file as kubectl apply --server-side does")
    .option("--field-manager <name>", 'with --server-side: who applies it (default: "kubectl")')
    .option("--force-conflicts", "with --server-side: take over fields of others")
    .option(
      "--set <path=value>",
      "one value of it, as spec.processCounts.storage=5 (repeatable)",
      collect,
    )
    .option("--upgrade <version>", "another version")
    .option("--lose-node <name>", "a node loses power")
    .option("--lose-zone <name>", "all nodes of a zone lose power")
    .option("--drain <node>", "a node is drained")
    .option("--from <place>", "use a picture that was saved, or a support bundle; asks no server")
    .option("--save <folder>", "keep the picture, without secrets")
    .option(
      "--status <file>",
      'take the status of the database from a file (fdbcli --exec "status json")',
    )
    .option("--seeds <number>", "how many times, with other chances each time", seeds, 3)
    .option("--move-rate <bytes>", "bytes that the database moves in a second", "50MB")
    .option(
      "--limit <duration>",
      "how long the copy may take, in its own time",
      durationOption(60_000, 240 * hourMs),
      12 * hourMs,
    )
    .option("--cpu <duration>", "how long this may compute", durationOption(1_000, hourMs), 300_000)
    .option(
      "--fail-on <conditions>",
      "exit code 3 when one is met, as recoveries>1,data-moved>100GB,blocked",
    );
  addOutputFlag(addConnectionFlags(command))
    .addHelpText("after", examples(...previewExamples))
    .action(async (name: string | undefined, flags: PreviewFlags, self: Command) => {
      if (name === undefined && flags.from === undefined) {
        throw new UsageError("preview needs the name of a cluster, or --from PLACE");
      }
      const { previewOffline, runPreviewCommand } = await import("./preview.ts");
      if (name !== undefined && flags.from === undefined) {
        return inSession(open, (session: Session, all: PreviewFlags) =>
          runPreviewCommand(session, name, all),
        )(name, flags, self);
      }
      await previewOffline(name, flags, (text) => self.configureOutput().writeOut?.(text));
    });
}

function seeds(text: string): number {
  const number = Number(text);
  if (/^\d{1,2}$/.test(text) && number >= 1 && number <= 20) return number;
  throw new InvalidArgumentError("It must be a number from 1 to 20.");
}
