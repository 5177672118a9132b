// Every setting of `fdb-operator run` in one table: flags, environment variables, help and docs/reference/flags.md are
// made from it. Flags have the Go operator's names where they mean the same. Rules: spec/run.md [RUN1]-[RUN4].
import { databasesPerProcess } from "../fdb/client/client-limits.ts";
import { defaultLeaseName } from "../kube/lease.ts";
import { databaseMetricsDetails } from "../operate/database-metrics/collect.ts";
import { UsageError } from "../env/command-error.ts";
import {
  SettingError,
  address,
  choice,
  count,
  duration,
  limit,
  names,
  onOrOff,
  text,
} from "./setting.ts";
import type { Setting } from "./setting.ts";

const logLevels = ["debug", "info", "warn", "error"] as const;

export const kubernetesSettings = {
  kubeconfig: text(
    {
      flag: "kubeconfig",
      environment: "KUBECONFIG",
      fallback: "",
      meaning:
        "Kubeconfig files, merged in this order. Without it the pod's own account is used, then the file in the home folder.",
    },
    "files",
  ),
  context: text(
    {
      flag: "context",
      fallback: "",
      meaning: "Context of the kubeconfig, if not its current one.",
    },
    "name",
  ),
  watchNamespace: text(
    {
      flag: "watch-namespace",
      environment: "WATCH_NAMESPACE",
      fallback: "",
      meaning: "The only namespace that is looked after; all of them when empty.",
    },
    "name",
  ),
  labelSelector: text(
    {
      flag: "label-selector",
      fallback: "",
      meaning:
        "Only resources (clusters, backups, restores) with these labels are looked after, so that several operators can share the work.",
    },
    "selector",
  ),
  watchNodes: choice(
    {
      flag: "watch-nodes",
      fallback: "auto",
      meaning:
        "Whether nodes are looked at. With auto it is asked at the start whether that is allowed; what is off without it is logged.",
    },
    ["auto", "true", "false"],
  ),
  requestTimeout: duration(
    {
      flag: "request-timeout",
      fallback: "30s",
      meaning: "Time limit of a request to the API server.",
    },
    100,
  ),
} as const;

export const leaderSettings = {
  enableLeaderElection: onOrOff({
    flag: "enable-leader-election",
    fallback: "true",
    meaning: "Of several instances only the one that holds the Lease works.",
  }),
  leaderElectionId: text(
    {
      flag: "leader-election-id",
      fallback: defaultLeaseName,
      meaning:
        "Name of the Lease. The default is that of the Go operator: the two never work together.",
    },
    "name",
  ),
  leaderElectionNamespace: text(
    {
      flag: "leader-election-namespace",
      fallback: "",
      meaning: "Namespace of the Lease; that of the pod or of the context when empty.",
    },
    "name",
  ),
  leaderElectionLeaseDuration: duration(
    {
      flag: "leader-election-lease-duration",
      fallback: "15s",
      meaning: "How long after its last renewal others may take the Lease. Whole seconds.",
    },
    1000,
  ),
  leaderElectionRenewDeadline: duration(
    {
      flag: "leader-election-renew-deadline",
      fallback: "10s",
      meaning: "How long the leader goes on without a successful renewal.",
    },
    500,
  ),
  leaderElectionRetryPeriod: duration(
    {
      flag: "leader-election-retry-period",
      fallback: "2s",
      meaning: "Time between renewals while something is done, and after one that failed.",
    },
    100,
  ),
} as const;

export const serverSettings = {
  metricsAddr: address({
    flag: "metrics-addr",
    fallback: "127.0.0.1:8080",
    meaning: "Where `/metrics` is served, with `/healthz` and `/readyz`. 0 for nowhere.",
  }),
  healthProbeBindAddress: address({
    flag: "health-probe-bind-address",
    fallback: "127.0.0.1:9443",
    meaning: "Where `/healthz` and `/readyz` are served. 0 for nowhere.",
  }),
} as const;

const metricsSettings = {
  databaseMetrics: choice(
    {
      flag: "database-metrics",
      fallback: "cluster",
      meaning:
        "What `/metrics` tells of the databases: nothing, each database as a whole, or each of its processes as well.",
    },
    databaseMetricsDetails,
  ),
  processSeriesMax: count(
    {
      flag: "process-series-max",
      fallback: "10000",
      meaning:
        "Series of single processes that `/metrics` has at most, with `--database-metrics process`. A process has 22 at most.",
    },
    100,
    1_000_000,
  ),
} as const;

export const logSettings = {
  logLevel: choice(
    {
      flag: "log-level",
      fallback: "info",
      meaning: "Least important lines that are logged. Logs are JSON lines on standard output.",
    },
    logLevels,
  ),
} as const;

export const workSettings = {
  maxConcurrentReconciles: count(
    { flag: "max-concurrent-reconciles", fallback: "4", meaning: "Clusters worked on at once." },
    1,
    1000,
  ),
  parallelWrites: count(
    {
      flag: "parallel-writes",
      fallback: "16",
      meaning: "Writes for one cluster that are under way at once.",
    },
    1,
    1000,
  ),
  statusWriteInterval: duration({
    flag: "status-write-interval",
    fallback: "10s",
    meaning: "Changes of a status that only tell of progress are written at most this often.",
  }),
  getTimeout: duration(
    { flag: "get-timeout", fallback: "5s", meaning: "Time limit of a question to a sidecar." },
    100,
  ),
  postTimeout: duration(
    { flag: "post-timeout", fallback: "10s", meaning: "Time limit of an order to a sidecar." },
    100,
  ),
  replaceOnSecurityContextChange: onOrOff({
    flag: "replace-on-security-context-change",
    fallback: "false",
    meaning: "Whether another user or group of the containers replaces the process group.",
  }),
  enableRestartIncompatibleProcesses: onOrOff({
    flag: "enable-restart-incompatible-processes",
    fallback: "true",
    meaning: "Whether pods go whose processes speak another protocol than the database.",
  }),
  minimumAgeForTerminalPodDeletion: duration({
    flag: "minimum-age-for-terminal-pod-deletion",
    fallback: "30s",
    meaning: "A pod that has failed or ended is left alone until it is this old.",
  }),
} as const;

/** What people who write pod templates may ask for; what is not allowed is a validation error that names the field. */
export const podTemplateSettings = {
  allowAutomountServiceAccountToken: onOrOff({
    flag: "allow-automount-service-account-token",
    fallback: "true",
    meaning:
      "Whether pods may carry the token of their account. Without a word of the user they do.",
  }),
  allowHostNetwork: onOrOff({
    flag: "allow-host-network",
    fallback: "true",
    meaning: "Whether pods may use the network of their node.",
  }),
  allowHostPid: onOrOff({
    flag: "allow-host-pid",
    fallback: "true",
    meaning: "Whether pods may see the processes of their node.",
  }),
  allowHostIpc: onOrOff({
    flag: "allow-host-ipc",
    fallback: "true",
    meaning: "Whether pods may use the shared memory of their node.",
  }),
  allowedServiceAccountNames: names({
    flag: "allowed-service-account-names",
    fallback: "",
    meaning: "The service accounts that pods may have; any when empty.",
  }),
  allowedAdditionalVolumeSources: names({
    flag: "allowed-additional-volume-sources",
    fallback: "",
    meaning: "The kinds of volumes that pod templates may add, such as emptyDir; any when empty.",
  }),
  allowedAdditionalVolumeMounts: names({
    flag: "allowed-additional-volume-mounts",
    fallback: "",
    meaning: "The volumes that containers of pod templates may mount, by name; any when empty.",
  }),
} as const;

export const databaseSettings = {
  cliTimeout: duration(
    { flag: "cli-timeout", fallback: "10s", meaning: "Time limit of a command to a database." },
    1000,
  ),
  statusTimeout: duration(
    { flag: "status-timeout", fallback: "20s", meaning: "Time limit of reading a status." },
    1000,
  ),
  busyPollInterval: duration(
    {
      flag: "busy-poll-interval",
      fallback: "1s",
      meaning:
        "Pause between two looks at a database while something is awaited from it; up to five times as long when nothing changes.",
    },
    100,
  ),
  restPollInterval: duration(
    {
      flag: "rest-poll-interval",
      fallback: "30s",
      meaning: "Pause between two looks at a database at rest.",
    },
    1000,
  ),
  statusMaximumAge: duration(
    {
      flag: "status-maximum-age",
      fallback: "2m",
      meaning: "A status older than this says nothing about the database any more.",
    },
    1000,
  ),
  evidenceMaximumAge: duration(
    {
      flag: "evidence-maximum-age",
      fallback: "1m",
      meaning: "A status older than this is no ground for anything disruptive.",
    },
    1000,
  ),
  firstConfigureWait: duration({
    flag: "first-configure-wait",
    fallback: "1m",
    meaning: "How long a new database waits for processes that do not report.",
  }),
  highRunLoopBusyThreshold: limit({
    flag: "high-run-loop-busy-threshold",
    fallback: "",
    meaning: "Share of busy time from which a process counts as overloaded; empty switches it off.",
  }),
  databasesPerClient: count(
    {
      flag: "databases-per-client",
      fallback: String(databasesPerProcess.default),
      meaning:
        "Databases of one version that share a client process at most. A large one counts for several, one in trouble gets a process of its own.",
    },
    databasesPerProcess.minimum,
    databasesPerProcess.maximum,
  ),
  database: text(
    {
      flag: "database",
      fallback: "real",
      isHidden: true,
      meaning: "`real`, or `simulated:HOST:PORT` of a simulated database, for tests.",
    },
    "kind",
  ),
} as const;

export const thresholdSettings = {
  minimumRecoveryTimeForExclusion: duration({
    flag: "minimum-recovery-time-for-exclusion",
    fallback: "2m",
    meaning: "Minimum time since the last recovery before an exclusion that costs another one.",
  }),
  minimumUptimeForConfigurationChanges: duration({
    flag: "minimum-uptime-for-configuration-changes",
    fallback: "1m",
    meaning: "Minimum time since the last recovery before a change of the configuration.",
  }),
  minimumUptimeForCoordinatorChangeWithMissingProcess: duration({
    flag: "minimum-uptime-for-coordinator-change-with-missing-process",
    fallback: "1m",
    meaning: "Minimum time since the last recovery before coordinators are changed.",
  }),
  coordinatorMissingDuration: duration({
    flag: "coordinator-missing-duration",
    fallback: "1m",
    meaning: "How long a coordinator may be gone before another one takes its place.",
  }),
  minimumRequiredUptimeForCcBounce: duration({
    flag: "minimum-required-uptime-for-cc-bounce",
    fallback: "1h",
    meaning:
      "Minimum uptime before a cluster controller is restarted for the sake of dead testers.",
  }),
  globalSynchronizationWaitDuration: duration({
    flag: "global-synchronization-wait-duration",
    fallback: "30s",
    meaning: "How long instances of one database wait for each other before they act together.",
  }),
  maintenanceListStaleDuration: duration({
    flag: "maintenance-list-stale-duration",
    fallback: "4h",
    meaning: "How long an entry of the maintenance list counts.",
  }),
  maintenanceListWaitDuration: duration({
    flag: "maintenance-list-wait-duration",
    fallback: "5m",
    meaning: "How long an entry of the maintenance list for another zone is left to its owner.",
  }),
} as const;

/** In the order in which people read them. */
export const settingGroups: readonly (readonly [
  string,
  Readonly<Record<string, Setting<unknown>>>,
])[] = [
  ["Kubernetes", kubernetesSettings],
  ["Leader election", leaderSettings],
  ["Metrics and health", { ...serverSettings, ...metricsSettings }],
  ["Logs", logSettings],
  ["Work", workSettings],
  ["Pod templates", podTemplateSettings],
  ["Databases", databaseSettings],
  ["Patience with databases", thresholdSettings],
];

export const allSettings = {
  ...kubernetesSettings,
  ...leaderSettings,
  ...serverSettings,
  ...metricsSettings,
  ...logSettings,
  ...workSettings,
  ...podTemplateSettings,
  ...databaseSettings,
  ...thresholdSettings,
};

export type RunSettings = {
  readonly [Name in keyof typeof allSettings]: ReturnType<(typeof allSettings)[Name]["read"]>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A flag wins over its environment variable, which wins over the default. An empty variable counts as absent. Everything
 * that is wrong is told at once.
 */
export function readSettings(
  flags: Readonly<Record<string, string | boolean | undefined>>,
  environment: Environment,
): RunSettings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(allSettings)) {
    const flag = flags[name];
    const variable = environment[setting.environment];
    const given = flag ?? (variable === "" ? undefined : variable);
    try {
      values[name] = setting.read(String(given ?? setting.fallback));
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      const source = flag === undefined ? setting.environment : `--${setting.flag}`;
      problems.push(`${source} ${error.message}, not "${String(given)}"`);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  const settings = values as RunSettings;
  checkTogether(settings);
  return settings;
}

/** Values that are each possible and together are not. */
function checkTogether(settings: RunSettings): void {
  const {
    leaderElectionLeaseDuration: leaseMs,
    leaderElectionRenewDeadline: deadlineMs,
    leaderElectionRetryPeriod: retryMs,
    cliTimeout: commandMs,
  } = settings;
  if (!settings.enableLeaderElection) return;
  if (deadlineMs >= leaseMs || retryMs * 2 > deadlineMs) {
    throw new UsageError(
      "the lease duration must exceed the renew deadline, and that must be at least two retry periods",
    );
  }
  // A leader acts only while its term outlasts a command, or two leaders could act at once.
  if (leaseMs - 2 * retryMs < commandMs) {
    throw new UsageError(
      "the lease duration must exceed --cli-timeout by at least two retry periods: raise --leader-election-lease-duration",
    );
  }
}
