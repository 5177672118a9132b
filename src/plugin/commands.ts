// The commands of `kubectl fdb`: names, flags and help. Light: what a command does is loaded when it is called.
// Rules: spec/plugin.md [PL1].
import type { Command } from "commander";
import { addFailoverCommand } from "./commands-failover.ts";
import { addLookingCommands } from "./commands-looking.ts";
import { addMaintenanceCommands } from "./commands-maintenance.ts";
import { addPodCommands } from "./commands-pods.ts";
import { addQuarantineCommands } from "./commands-quarantine.ts";
import { addVolumeCommands } from "./commands-volumes.ts";
import { addResourceCommands } from "./commands-resource.ts";
import type { OpenSession } from "./session.ts";

export function addPluginCommands(program: Command, open: OpenSession): void {
  addLookingCommands(program, open);
  addResourceCommands(program, open);
  addPodCommands(program, open);
  addQuarantineCommands(program, open);
  addFailoverCommand(program, open);
  addMaintenanceCommands(program, open);
  addVolumeCommands(program, open);
}
