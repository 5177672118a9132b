// The command line of `fdb-operator run`, made from the table of its settings. Rules: spec/run.md [RUN1]-[RUN5].
import { Option } from "commander";
import type { Command } from "commander";
import { flagsWithoutEffect } from "./go-flags.ts";
import type { OpenDatabases } from "./run-databases.ts";
import { settingGroups } from "./run-settings.ts";
import type { Setting } from "./setting.ts";

export function addRunCommand(
  program: Command,
  environment: Readonly<Record<string, string | undefined>>,
  /** Only tests open other databases. */
  open?: OpenDatabases,
): void {
  const command = program
    .command("run")
    .description("run the operator against Kubernetes until it is told to stop");
  for (const [group, settings] of settingGroups) {
    for (const setting of Object.values(settings)) {
      command.addOption(optionOf(setting).helpGroup(`${group}:`));
    }
  }
  for (const flag of Object.keys(flagsWithoutEffect)) {
    command.addOption(new Option(`--${flag} [value]`).hideHelp());
  }
  command.action(async (flags: Record<string, string | boolean>) =>
    (await import("./run.ts")).runRun(flags, environment, open),
  );
}

function optionOf({
  flag,
  form,
  meaning,
  fallback,
  environment,
  isHidden,
}: Setting<unknown>): Option {
  const value = form === undefined ? "[true|false]" : `<${form}>`;
  const ending = fallback === "" ? environment : `${environment}, default ${fallback}`;
  const option = new Option(`--${flag} ${value}`, `${meaning.replaceAll("`", "")} (${ending})`);
  return isHidden === true ? option.hideHelp() : option;
}
