// The settings of `fdb-operator run` in the words of the loop. Rules: spec/run.md [RUN4].
import type { OperatorOptions } from "../operate/operator.ts";
import type { RunSettings } from "./run-settings.ts";

export function operatorOptions(settings: RunSettings): OperatorOptions {
  return {
    ...(settings.watchNamespace === "" ? {} : { namespace: settings.watchNamespace }),
    ...(settings.labelSelector === "" ? {} : { labelSelector: settings.labelSelector }),
    workers: settings.maxConcurrentReconciles,
    parallelWrites: settings.parallelWrites,
    statusIntervalMs: settings.statusWriteInterval,
    busyPollMs: settings.busyPollInterval,
    restPollMs: settings.restPollInterval,
    statusTimeoutMs: settings.statusTimeout,
    commandTimeoutMs: settings.cliTimeout,
    sidecarTimeoutMs: settings.getTimeout,
    sidecarOrderTimeoutMs: settings.postTimeout,
    databaseMetrics: {
      detail: settings.databaseMetrics,
      processSeriesMax: settings.processSeriesMax,
    },
    podTemplateLimits: {
      allowsAutomountServiceAccountToken: settings.allowAutomountServiceAccountToken,
      allowsHostNetwork: settings.allowHostNetwork,
      allowsHostPid: settings.allowHostPid,
      allowsHostIpc: settings.allowHostIpc,
      serviceAccountNames: settings.allowedServiceAccountNames,
      volumeSources: settings.allowedAdditionalVolumeSources,
      volumeMounts: settings.allowedAdditionalVolumeMounts,
    },
    plan: {
      terminalPodMinimumAgeMs: settings.minimumAgeForTerminalPodDeletion,
      firstConfigureWaitMs: settings.firstConfigureWait,
      statusMaximumAgeMs: settings.statusMaximumAge,
      evidenceMaximumAgeMs: settings.evidenceMaximumAge,
      configurationMinimumUptimeSeconds: settings.minimumUptimeForConfigurationChanges / 1000,
      coordinatorMissingMs: settings.coordinatorMissingDuration,
      coordinatorMinimumUptimeSeconds:
        settings.minimumUptimeForCoordinatorChangeWithMissingProcess / 1000,
      controllerRescueMinimumUptimeSeconds: settings.minimumRequiredUptimeForCcBounce / 1000,
      exclusionMinimumUptimeSeconds: settings.minimumRecoveryTimeForExclusion / 1000,
      globalSynchronizationWaitMs: settings.globalSynchronizationWaitDuration,
      maintenanceWaitMs: settings.maintenanceListWaitDuration,
      maintenanceStaleMs: settings.maintenanceListStaleDuration,
      replacesOnSecurityContextChange: settings.replaceOnSecurityContextChange,
      restartsIncompatibleProcesses: settings.enableRestartIncompatibleProcesses,
      ...(settings.highRunLoopBusyThreshold === undefined
        ? {}
        : { highRunLoopBusyThreshold: settings.highRunLoopBusyThreshold }),
    },
  };
}
