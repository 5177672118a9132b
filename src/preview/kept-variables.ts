// Environment variables whose values stay in a picture: those that the operator itself writes, and those of a user that
// name a place or a setting of fdbserver, since the status of the database shows them, too. Rule PIC13.
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { faultDomainOf } from "../api/effective.ts";
import { localityVariables } from "../build/locality-arguments.ts";
import { isSecretName } from "./secret-patterns.ts";

const own: ReadonlySet<string> = new Set([
  "BINARY_DIR",
  "ENABLE_NODE_WATCH",
  "FDB_CLUSTER_FILE",
  "FDB_DNS_NAME",
  "FDB_IMAGE_TYPE",
  "FDB_INSTANCE_ID",
  "FDB_MACHINE_ID",
  "FDB_NETWORK_OPTION_TRACE_ENABLE",
  "FDB_NETWORK_OPTION_TRACE_LOG_GROUP",
  "FDB_NODE_NAME",
  "FDB_POD_IP",
  "FDB_POD_NAME",
  "FDB_POD_NAMESPACE",
  "FDB_PUBLIC_IP",
  "FDB_TLS_CA_FILE",
  "FDB_TLS_CERTIFICATE_FILE",
  "FDB_TLS_KEY_FILE",
  "FDB_TLS_VERIFY_PEERS",
  "FDB_ZONE_ID",
]);

export interface VariableRules {
  readonly keepsVariable: (name: string) => boolean;
  readonly isOnCommandLine: (name: string) => boolean;
}

export function variableRules({ spec }: FoundationDBCluster): VariableRules {
  const parameters = namedInParameters(spec);
  const places = new Set([
    faultDomainOf(spec).valueFrom.replace(/^\$/, ""),
    ...localityVariables(spec),
  ]);
  return {
    keepsVariable: (name) =>
      own.has(name) ||
      name.endsWith("_SERVERS_PER_POD") ||
      // Labels of the node, as the monitor reports them.
      name.startsWith("NODE_LABEL_") ||
      places.has(name) ||
      parameters.get(name) === "setting",
    isOnCommandLine: (name) => parameters.has(name),
  };
}

/** Variables that custom parameters take their values from. */
function namedInParameters(spec: ClusterSpec): Map<string, "secret" | "setting"> {
  const result = new Map<string, "secret" | "setting">();
  for (const settings of Object.values(spec.processes ?? {})) {
    for (const parameter of settings.customParameters ?? []) {
      const [, name = "", source] = /^([^=]*)=\s*\$+([^$]*)/.exec(parameter) ?? [];
      if (source === undefined) continue;
      const isSecret = isSecretName(name) || result.get(source) === "secret";
      result.set(source.trim(), isSecret ? "secret" : "setting");
    }
  }
  return result;
}
