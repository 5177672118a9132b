// The command `dashboard` of `kubectl fdb`: flags and help. Light: what it does is loaded when it is called.
// Rules: spec/web.md [WEB32].
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { UsageError } from "../env/command-error.ts";
import { addConnectionFlags, examples, inSession } from "../plugin/flags.ts";
import type { OpenSession, Session } from "../plugin/session.ts";
import type { DashboardFlags } from "./run-dashboard.ts";
import type { PluginProgram } from "./server/preview-process.ts";

/** `plugin` is how `kubectl fdb` itself is started, for previews. */
export function addDashboardCommand(
  program: Command,
  open: OpenSession,
  plugin: PluginProgram,
): void {
  const command = program
    .command("dashboard")
    .description(
      "serve a page on this machine that shows clusters live, with your own rights; changes nothing",
    )
    .option("-A, --all-namespaces", "of all namespaces")
    .option("--port <number>", "port on 127.0.0.1 (default: 7480, or a free one)", port)
    .option("--from <place>", "show a support bundle, or a picture that was saved; asks no server");
  addConnectionFlags(command)
    .addHelpText(
      "after",
      examples(
        "dashboard",
        "dashboard -A --port 8080",
        "dashboard --from fdb-report-default-sample.tar.gz",
      ),
    )
    .action(async (flags: DashboardFlags, self: Command) => {
      const { runDashboard, runDashboardOfFile } = await import("./run-dashboard.ts");
      if (flags.from === undefined) {
        return inSession(open, (session: Session, all: DashboardFlags) =>
          runDashboard(session, all, plugin),
        )(flags, self);
      }
      if (flags.allNamespaces === true || flags.namespace !== undefined) {
        throw new UsageError(
          "--from shows one cluster: leave out --namespace and --all-namespaces",
        );
      }
      await runDashboardOfFile(flags.from, flags, plugin, (text) =>
        self.configureOutput().writeOut?.(text),
      );
    });
}

function port(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError("It must be a number from 0 to 65535; 0 picks a free one.");
}
