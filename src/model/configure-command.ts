// The arguments of fdbcli's `configure`. Carries the rules M38 and M39 of spec/model.md.
import { hasSeparatedProxies, roleCountsOf } from "./database-configuration.ts";
import type { DatabaseConfiguration, Region } from "./database-configuration.ts";
import { parsed, unparsed } from "./parsed.ts";
import type { Parsed } from "./parsed.ts";

/** An error when a value holds a character that would end the command and start another one. */
export function configureArguments(configuration: DatabaseConfiguration): Parsed<string> {
  const text = wordsOf(configuration).join(" ");
  const forbidden = /[;\r\n]/.exec(text);
  if (forbidden) {
    return unparsed(
      `the configuration holds ${JSON.stringify(forbidden[0])}, which ends a command`,
    );
  }
  return parsed(text);
}

/** Whether these arguments change nothing of a live configuration but the storage wiggle, which costs no recovery. */
export function changesWiggleAlone(live: DatabaseConfiguration, text: string): boolean {
  const before = configureArguments(live);
  return before.ok && withoutWiggle(before.value) === withoutWiggle(text);
}

function withoutWiggle(text: string): string {
  return text
    .split(" ")
    .filter((word) => !word.startsWith("perpetual_storage_wiggle"))
    .join(" ");
}

function wordsOf(configuration: DatabaseConfiguration): string[] {
  const words = [
    configuration.redundancy_mode ?? "",
    configuration.storage_engine ?? "",
    `usable_regions=${configuration.usable_regions ?? 0}`,
  ];
  for (const role of ["logs", "resolvers", "log_routers", "remote_logs"] as const) {
    words.push(`${role}=${configuration[role] ?? 0}`);
  }
  const counts = roleCountsOf(configuration);
  if (hasSeparatedProxies(configuration)) {
    words.push(`commit_proxies=${counts.commit_proxies}`, `grv_proxies=${counts.grv_proxies}`);
  } else {
    words.push(`proxies=${counts.proxies}`);
  }
  for (const flag of ["log_spill", "log_version"] as const) {
    if (configuration[flag]) words.push(`${flag}:=${configuration[flag]}`);
  }
  words.push(`regions=${regionsArgument(configuration.regions)}`);
  for (const setting of [
    "storage_migration_type",
    "perpetual_storage_wiggle",
    "perpetual_storage_wiggle_locality",
    "perpetual_storage_wiggle_engine",
  ] as const) {
    if (configuration[setting] !== undefined) words.push(`${setting}=${configuration[setting]}`);
  }
  return words;
}

function regionsArgument(regions: readonly Region[] | undefined): string {
  if (!regions) return "[]";
  const json = JSON.stringify(
    regions.map((region) => ({
      datacenters: (region.datacenters ?? []).map((dataCenter) => ({
        id: dataCenter.id || undefined,
        priority: dataCenter.priority || undefined,
        satellite: dataCenter.satellite || undefined,
      })),
      satellite_logs: region.satellite_logs || undefined,
      satellite_redundancy_mode: region.satellite_redundancy_mode || undefined,
    })),
  );
  return escapeForCommand(json);
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  '"': '\\"',
  "<": "\\u003C",
  ">": "\\u003E",
  "&": "\\u0026",
  "=": "\\u003D",
};

/** fdbcli splits its input at blanks and takes a backslash off, so quotes and signs travel escaped. */
function escapeForCommand(json: string): string {
  return json.replaceAll(/[\\'"<>&=]/g, (letter) => escapes[letter] ?? letter);
}
