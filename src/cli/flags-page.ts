// The reference page of the settings of `fdb-operator run`, made from their table. Rules: spec/run.md [RUN3].
import { flagsWithoutEffect } from "./go-flags.ts";
import { settingGroups } from "./run-settings.ts";
import type { Setting } from "./setting.ts";

export function flagsPage(): string {
  const lines = [
    "# Settings of `fdb-operator run`",
    "",
    "Generated from src/cli/run-settings.ts by `npm run generate`. Do not edit.",
    "",
    "Each setting has a flag and an environment variable; the flag wins. A flag that is on or off may stand alone (`--flag`) or with a value",
    "(`--flag=false`). Durations are written as `500ms`, `15s`, `1m30s` or `4h`; a plain number means seconds.",
  ];
  for (const [group, settings] of settingGroups) {
    lines.push(
      "",
      `## ${group}`,
      "",
      "| flag | environment | default | meaning |",
      "|---|---|---|---|",
    );
    for (const setting of Object.values(settings)) {
      if (setting.isHidden !== true) lines.push(row(setting));
    }
  }
  lines.push(
    "",
    "## Flags of the Go operator without effect",
    "",
    "They are accepted, so that a Deployment that carries them starts, and named in the log.",
    "",
    "| flag | why |",
    "|---|---|",
  );
  for (const [flag, why] of Object.entries(flagsWithoutEffect)) {
    lines.push(`| \`--${flag}\` | ${why} |`);
  }
  return `${lines.join("\n")}\n`;
}

function row({ flag, environment, fallback, meaning, form }: Setting<unknown>): string {
  const shown = form === undefined ? `--${flag}` : `--${flag} ${form.replaceAll("|", "\\|")}`;
  const value = fallback === "" ? "" : `\`${fallback}\``;
  return `| \`${shown}\` | \`${environment}\` | ${value} | ${meaning} |`;
}
