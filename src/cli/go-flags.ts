// Flags of the Go operator that this one has no use for: a Deployment that carries them starts all the same, and each is
// named in the log. What would loosen or tighten security is never ignored. Rules: spec/run.md [RUN5].

/** By flag: why it has no effect. */
export const flagsWithoutEffect: Readonly<Record<string, string>> = {
  "cache-database-status": "a status is always read once for all steps",
  "cleanup-old-cli-logs": "no command line is run for what the client library can do",
  "cluster-label-key-for-node-trigger": "nodes lead to their clusters by the pods on them",
  compress: "logs go to standard output",
  "enable-node-index": "nodes lead to their clusters by the pods on them",
  "enable-recovery-state": "the state of the recovery is always looked at",
  "log-file": "logs go to standard output",
  "log-file-max-age": "logs go to standard output",
  "log-file-max-size": "logs go to standard output",
  "log-file-min-age": "no command line is run for what the client library can do",
  "log-file-permission": "logs go to standard output",
  "max-cli-timeout": "time limits do not grow; see --cli-timeout and --status-timeout",
  "max-old-log-files": "logs go to standard output",
  "minimum-recovery-time-for-inclusion": "inclusions that can wait are collected",
  "minimum-uptime-for-coordinator-change-with-undesired-process":
    "one minimum uptime counts for every change of coordinators",
  "pod-update-method": "pods are always patched",
  "server-side-apply": "a status is always written with the version that was read",
  "use-future-defaults": "there are none",
  "zap-devel": "logs are JSON lines",
  "zap-encoder": "logs are JSON lines",
  "zap-stacktrace-level": "errors always carry their stack",
  "zap-time-encoding": "times are RFC 3339",
};
