// The configuration of fdbmonitor in pods of the split image. The ConfigMap holds it with variables, which the sidecar
// fills in; with the substitutions of a pod it is the text that the pod must end up with.
// Carries the rules B39 and B40 of spec/build.md.
import { renderArgument } from "./command-line.ts";
import type { Substitutions } from "./command-line.ts";
import { monitorConfiguration } from "./monitor-configuration.ts";
import type { MonitorTarget } from "./monitor-configuration.ts";
import type { NormalCluster } from "./normalise.ts";

export function splitConfiguration(
  cluster: NormalCluster,
  target: Omit<MonitorTarget, "imageType">,
  substitutions: Substitutions = {},
): string {
  // Without a cluster file no server could start.
  if (!cluster.status?.connectionString) return "";
  const lines = ["[general]", "kill_on_configuration_change = false", "restart_delay = 60"];
  if (cluster.spec.buggify?.emptyMonitorConf) return lines.join("\n");
  const configuration = monitorConfiguration(cluster, { ...target, imageType: "split" });
  const binaryDirectory = substitutions["BINARY_DIR"] ?? "$BINARY_DIR";
  for (let number = 1; number <= target.serverCount; number++) {
    lines.push(`[fdbserver.${number}]`, `command = ${binaryDirectory}/fdbserver`);
    for (const argument of configuration.arguments) {
      const text = renderArgument(argument, number, substitutions);
      lines.push(text.replace(/^--/, "").replace("=", " = "));
    }
  }
  return lines.join("\n");
}
