// The command `report` of `kubectl fdb`: flags and help. Light: what it does is loaded when it is called.
// Rules: spec/report.md [PIC30].
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { addConnectionFlags, durationOption, examples, inSession } from "../plugin/flags.ts";
import type { OpenSession, Session } from "../plugin/session.ts";
import type { ReportFlags } from "./run-report.ts";

export function addReportCommand(program: Command, open: OpenSession): void {
  const command = program
    .command("report")
    .description(
      "write a support bundle: one .tar.gz with the resources, events, logs and status of a cluster, without its secrets",
    )
    .argument("<cluster>", "name of the FoundationDBCluster")
    .option(
      "-f, --file <file>",
      "file to write (default: fdb-report-NAMESPACE-CLUSTER-TIME.tar.gz)",
    )
    .option(
      "--log-lines <number>",
      "newest lines of each container's log; 0 for no logs",
      lines,
      2_000,
    )
    .option(
      "--timeout <duration>",
      "how long reading may take",
      durationOption(1_000, 3_600_000),
      300_000,
    )
    .option(
      "--status <file>",
      'take the status of the database from a file (fdbcli --exec "status json")',
    );
  addConnectionFlags(command)
    .addHelpText(
      "after",
      examples(
        "report sample",
        "report sample -n databases -f sample.tar.gz",
        "report sample --log-lines 0 --timeout 1m",
        "preview sample --from sample.tar.gz",
      ),
    )
    .action(
      inSession(open, async (session: Session, flags: ReportFlags, name: string) =>
        (await import("./run-report.ts")).runReport(session, name, flags),
      ),
    );
}

function lines(text: string): number {
  const number = Number(text);
  if (/^\d{1,6}$/.test(text) && number <= 100_000) return number;
  throw new InvalidArgumentError("It must be a number from 0 to 100000.");
}
