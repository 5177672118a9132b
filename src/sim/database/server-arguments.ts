// The command line of fdbserver: parsed as the real one does, refused with a message a person would
// find in the pod's log. [FDB1] [FDB2] [FDB60]
import { knobError, knobWarnings } from "./knobs.ts";
import { parseNetworkAddress } from "./network-address.ts";
import type { NetworkAddress } from "./network-address.ts";

export interface ServerArguments {
  clusterFile: string;
  seedClusterFile: string | undefined;
  publicAddresses: readonly NetworkAddress[];
  /** Where the process really binds; the public addresses unless told otherwise. */
  listenAddresses: readonly NetworkAddress[];
  processClass: string;
  dataDirectory: string;
  logDirectory: string;
  logGroup: string;
  localities: Readonly<Record<string, string>>;
  knobs: Readonly<Record<string, string>>;
  memoryBytes: number;
  tlsCertificateFile: string | undefined;
  tlsKeyFile: string | undefined;
}

/** Warnings are about knobs that are left alone. */
export type ParsedArguments =
  | { arguments: ServerArguments; warnings: readonly string[] }
  | { error: string };

export const processClasses: readonly string[] = [
  "unset",
  "storage",
  "transaction",
  "resolution",
  "proxy",
  "commit_proxy",
  "grv_proxy",
  "master",
  "test",
  "stateless",
  "log",
  "router",
  "log_router",
  "cluster_controller",
  "fast_restore",
  "data_distributor",
  "coordinator",
  "ratekeeper",
  "storage_cache",
  "backup",
  "consistency_scan",
  "blob_manager",
  "blob_worker",
  "encrypt_key_proxy",
];

/** Short forms and their long names. */
const shortOptions: Readonly<Record<string, string>> = {
  "-C": "cluster_file",
  "-p": "public_address",
  "-l": "listen_address",
  "-c": "class",
  "-d": "datadir",
  "-L": "logdir",
  "-i": "machine_id",
  "-a": "datacenter_id",
  "-m": "memory",
  "-M": "storage_memory",
};

const optionsWithValue = new Set([
  "cluster_file",
  "seed_cluster_file",
  "seed_connection_string",
  "public_address",
  "listen_address",
  "class",
  "datadir",
  "logdir",
  "log_group",
  "loggroup",
  "logsize",
  "maxlogs",
  "maxlogssize",
  "memory",
  "memory_vsize",
  "storage_memory",
  "cache_memory",
  "machine_id",
  "datacenter_id",
  "trace_format",
  "parentpid",
  "tls_certificate_file",
  "tls_key_file",
  "tls_ca_file",
  "tls_password",
  "tls_verify_peers",
  "tls_plugin",
  "io_trust_seconds",
  "crash",
  "buggify",
  "metrics_cluster",
  "metrics_prefix",
  "tracer",
  "config_path",
]);

const optionsWithoutValue = new Set(["no_config_db", "io_trust_warn_only", "unlimited_size"]);

interface Collected {
  values: Map<string, string>;
  localities: Record<string, string>;
  knobs: Record<string, string>;
}

export function parseServerArguments(args: readonly string[]): ParsedArguments {
  const collected: Collected = { values: new Map(), localities: {}, knobs: {} };
  for (let index = 0; index < args.length; index += 1) {
    const text = args[index] ?? "";
    const equals = text.indexOf("=");
    const flag = equals < 0 || !text.startsWith("--") ? text : text.slice(0, equals);
    const name = optionName(flag);
    if (name === undefined) return { error: `ERROR: unknown option \`${text}'` };
    if (optionsWithoutValue.has(name)) continue;
    if (!isOptionWithValue(name)) return { error: `ERROR: unknown option \`${flag}'` };
    let value = equals < 0 || !text.startsWith("--") ? undefined : text.slice(equals + 1);
    if (value === undefined) {
      index += 1;
      value = args[index];
    }
    if (value === undefined) return { error: `ERROR: option \`${flag}' requires an argument` };
    collect(collected, name, value);
  }
  return check(collected);
}

/** Dashes and underscores are the same in option names. */
function optionName(flag: string): string | undefined {
  if (flag.startsWith("--")) return flag.slice(2).replaceAll("-", "_");
  return shortOptions[flag];
}

function isOptionWithValue(name: string): boolean {
  return (
    optionsWithValue.has(name) || /^locality_[a-z0-9_]+$/.test(name) || /^knob_\w+$/.test(name)
  );
}

function collect(collected: Collected, name: string, value: string): void {
  if (name.startsWith("locality_")) collected.localities[name.slice("locality_".length)] = value;
  else if (name.startsWith("knob_")) collected.knobs[name.slice("knob_".length)] = value;
  else if (name === "machine_id") collected.localities["machineid"] = value;
  else if (name === "datacenter_id") collected.localities["dcid"] = value;
  else collected.values.set(name, value);
}

function check({ values, localities, knobs }: Collected): ParsedArguments {
  const publicText = values.get("public_address");
  if (publicText === undefined)
    return { error: "ERROR: The -p or --public_address option is required" };
  const publicAddresses: NetworkAddress[] = [];
  for (const part of publicText.split(",")) {
    const address = parseNetworkAddress(part);
    if (!address || address.isHostName) {
      return {
        error: `ERROR: Could not parse network address \`${part}' (try the form IP_ADDRESS:PORT)`,
      };
    }
    publicAddresses.push(address);
  }
  if (publicAddresses.length > 2)
    return { error: "ERROR: At most two public addresses can be given" };
  const listen = listenError(values.get("listen_address"), publicAddresses);
  if (listen) return { error: listen };
  const processClass = values.get("class") ?? "unset";
  if (!processClasses.includes(processClass)) {
    return { error: `ERROR: Unknown machine class \`${processClass}'` };
  }
  const memoryText = values.get("memory");
  const memoryBytes = memoryText === undefined ? 8 * 2 ** 30 : parseSize(memoryText);
  if (memoryBytes === undefined) {
    return { error: `ERROR: Could not parse memory limit from \`${memoryText}'` };
  }
  const cacheText = values.get("cache_memory");
  const cacheBytes = cacheText === undefined ? undefined : parseSize(cacheText);
  if (cacheText !== undefined && cacheBytes === undefined) {
    return { error: `ERROR: Could not parse cache memory from \`${cacheText}'` };
  }
  const ending = knobError(knobs, memoryBytes, cacheBytes);
  if (ending !== undefined) return { error: ending };
  return {
    warnings: knobWarnings(knobs),
    arguments: {
      clusterFile: values.get("cluster_file") ?? "/etc/foundationdb/fdb.cluster",
      seedClusterFile: values.get("seed_cluster_file"),
      publicAddresses,
      listenAddresses: listenAddresses(values.get("listen_address"), publicAddresses),
      processClass,
      dataDirectory: values.get("datadir") ?? ".",
      logDirectory: values.get("logdir") ?? ".",
      logGroup: values.get("loggroup") ?? values.get("log_group") ?? "default",
      localities,
      knobs,
      memoryBytes,
      tlsCertificateFile: values.get("tls_certificate_file"),
      tlsKeyFile: values.get("tls_key_file"),
    },
  };
}

function listenError(
  text: string | undefined,
  publicAddresses: readonly NetworkAddress[],
): string | undefined {
  if (text === undefined) return undefined;
  const parts = text.split(",");
  if (parts.length > publicAddresses.length) {
    return "ERROR: Listen addresses (if provided) should correspond to the number of public addresses in order.";
  }
  for (const [index, part] of parts.entries()) {
    if (part === "public") continue;
    const address = parseNetworkAddress(part);
    if (!address || address.isHostName) {
      return `ERROR: Could not parse network address \`${part}' (try the form IP_ADDRESS:PORT)`;
    }
    if (address.useTls !== publicAddresses[index]?.useTls) {
      return `ERROR: TLS state of public address and listen address are not equal (\`${part}')`;
    }
  }
  return undefined;
}

function listenAddresses(
  text: string | undefined,
  publicAddresses: readonly NetworkAddress[],
): NetworkAddress[] {
  const parts = text?.split(",") ?? [];
  return publicAddresses.map((address, index) => {
    const part = parts[index];
    return part === undefined || part === "public"
      ? address
      : (parseNetworkAddress(part) ?? address);
  });
}

/** 8GiB, 512MB, 4096 (MiB): as fdbserver reads sizes of memory. */
function parseSize(text: string): number | undefined {
  const match = /^(\d+)(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB)?$/.exec(text);
  if (!match) return undefined;
  const units: Readonly<Record<string, number>> = {
    B: 1,
    KB: 1e3,
    KiB: 2 ** 10,
    MB: 1e6,
    MiB: 2 ** 20,
    GB: 1e9,
    GiB: 2 ** 30,
    TB: 1e12,
    TiB: 2 ** 40,
  };
  return Number(match[1]) * (units[match[2] ?? "MiB"] ?? 1);
}
