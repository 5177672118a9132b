// docs/reference/metrics.md: every metric that the operator serves, from the one list of them.
import { labelMeanings, metricCatalogue } from "../../src/model/metrics/catalogue.ts";

export function metricsPage(): string {
  const lines = [
    "# Metrics",
    "",
    "Generated from src/model/metrics by `npm run generate`. Do not edit.",
    "",
    "All metrics of `/metrics`. Names and labels stay as they are; [monitoring.md](../monitoring.md) says how to collect them. Times are in seconds, sizes in bytes.",
    "",
  ];
  for (const { title, source, metrics } of metricCatalogue) {
    lines.push(`## ${title}`, "", source, "");
    lines.push("| name | type | labels | meaning |", "|---|---|---|---|");
    for (const { name, type, labels, help } of metrics) {
      const shown = labels.map((label) => `\`${label}\``).join(", ");
      lines.push(`| \`${name}\` | ${type} | ${shown} | ${help} |`);
    }
    lines.push("");
  }
  lines.push("## Labels", "", "| label | meaning |", "|---|---|");
  for (const [label, meaning] of Object.entries(labelMeanings)) {
    lines.push(`| \`${label}\` | ${meaning} |`);
  }
  return `${lines.join("\n")}\n`;
}
