// The command line of `kubectl fdb`: what it shares with `fdb-operator`, and its own commands. Rules: spec/plugin.md [PL1].
import type { Command } from "commander";
import { addPluginCommands } from "../plugin/commands.ts";
import { addConnectionFlags } from "../plugin/flags.ts";
import type { OpenSession } from "../plugin/session.ts";
import { addViewCommands } from "../plugin/view-commands.ts";
import { addReportCommand } from "../report/command.ts";
import { addDashboardCommand } from "../web/command.ts";
import { pluginProgramOf } from "./plugin-path.ts";
import { addPreviewCommand } from "./preview-command.ts";
import {
  addBackupCommands,
  addCoordinationCommands,
  addExplainCommand,
  newProgram,
} from "./program.ts";

export function pluginProgram(open: OpenSession): Command {
  const program = newProgram("kubectl fdb", "Looks after FoundationDB clusters on Kubernetes.");
  // They may stand before the command, too.
  addConnectionFlags(program);
  addExplainCommand(program, open);
  addCoordinationCommands(program, open);
  addBackupCommands(program, open);
  addPluginCommands(program, open);
  addViewCommands(program, open);
  addReportCommand(program, open);
  addPreviewCommand(program, open);
  addDashboardCommand(program, open, pluginProgramOf(process.argv[1] ?? "", process));
  return program;
}
