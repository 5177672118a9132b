// fdbmonitor's INI file: sections, the settings that fdbmonitor keeps for itself, and the command
// line of each server, with its arguments in alphabetical order as the real one passes them. Pure.
// Carries rule KUBELET45.

export interface MonitoredServer {
  /** The section, for example fdbserver.1. */
  readonly section: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly restartDelaySeconds: number;
  readonly isKilledOnChange: boolean;
}

type Section = ReadonlyMap<string, string>;

/** Settings of fdbmonitor itself, which the server never sees. */
const ownSettings = new Set([
  "command",
  "restart_delay",
  "initial_restart_delay",
  "restart_backoff",
  "restart_delay_reset_interval",
  "disable_lifecycle_logging",
  "delete_envvars",
  "kill_on_configuration_change",
]);

export function readMonitorConf(text: string): MonitoredServer[] {
  const sections = parseIni(text);
  const general: Section = sections.get("general") ?? new Map();
  const servers: MonitoredServer[] = [];
  for (const [name, section] of sections) {
    const match = /^([^.]+)\.(\d+)$/.exec(name);
    if (match === null) continue;
    const shared: Section = sections.get(match[1] ?? "") ?? new Map();
    const setting = (key: string): string | undefined =>
      section.get(key) ?? shared.get(key) ?? general.get(key);
    const command = setting("command");
    if (command === undefined) continue;
    servers.push({
      section: name,
      command,
      args: argumentsOf(new Map([...shared, ...section]), match[2] ?? ""),
      restartDelaySeconds: Number(setting("restart_delay") ?? 60),
      isKilledOnChange: setting("kill_on_configuration_change") !== "false",
    });
  }
  return servers;
}

function argumentsOf(settings: Section, id: string): string[] {
  const args: string[] = [];
  for (const key of [...settings.keys()].toSorted()) {
    if (ownSettings.has(key.replaceAll("-", "_"))) continue;
    const value = (settings.get(key) ?? "").replaceAll("$ID", id);
    if (key.startsWith("flag_") || key.startsWith("flag-")) {
      if (value === "true") args.push(`--${key.slice(5)}`);
    } else {
      args.push(`--${key}=${value}`);
    }
  }
  return args;
}

function parseIni(text: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const rawLine of text.split("\n")) {
    const line = rawLine.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const heading = /^\[(.*)\]$/.exec(line)?.[1]?.trim();
    if (heading !== undefined) {
      current = sections.get(heading) ?? new Map();
      sections.set(heading, current);
      continue;
    }
    const equals = line.indexOf("=");
    if (equals > 0) current?.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return sections;
}
