// The files that people install: rules and dashboards, beside the chart for those who use none, and inside it.
import { dashboardJson } from "./dashboard.ts";
import type { Dashboard } from "./dashboard.ts";
import { backupDashboard } from "./dashboards/backup.ts";
import { clusterDashboard } from "./dashboards/cluster.ts";
import { fleetDashboard } from "./dashboards/fleet.ts";
import { operatorDashboard } from "./dashboards/operator.ts";
import { ruleGroups, ruleTests, yamlText } from "./rules.ts";

export const dashboards: readonly Dashboard[] = [
  fleetDashboard,
  clusterDashboard,
  operatorDashboard,
  backupDashboard,
];

const header = "# Generated from scripts/monitoring by npm run generate. Do not edit.\n";

/** Contents by path, relative to the project. */
export function monitoringFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const folder of ["deploy/monitoring", "deploy/chart/monitoring"]) {
    files.set(`${folder}/rules.yaml`, header + yamlText(ruleGroups()));
    for (const dashboard of dashboards) {
      files.set(`${folder}/dashboards/${dashboard.uid}.json`, dashboardJson(dashboard));
    }
  }
  files.set(
    "test/monitoring/rules.test.yaml",
    header + ruleTests("../../deploy/monitoring/rules.yaml"),
  );
  return files;
}
