// Which metrics and labels an expression of PromQL asks for, and which of them there are not. Not a parser: it reads names, which
// is enough to find a misspelt one; Prometheus itself judges the rest. Rules: spec/monitoring.md [MON10].
import { allMetrics } from "../../src/model/metrics/catalogue.ts";
import { recordingRules } from "./rules.ts";

/** Labels that Prometheus gives to everything it collects. */
const targetLabels: readonly string[] = ["namespace", "job", "instance", "pod"];
const groupers: ReadonlySet<string> = new Set(["by", "without", "on", "ignoring", "group_left"]);
const keywords: ReadonlySet<string> = new Set([
  "and",
  "or",
  "unless",
  "bool",
  "offset",
  "group_right",
]);

interface Asked {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels that are grouped or matched by. */
  readonly grouping: readonly string[];
}

export function askedBy(expression: string): Asked {
  const metrics: { name: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  const tokens = tokensOf(expression);
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? "";
    if (!/^[a-zA-Z_:]/.test(token)) continue;
    const next = tokens[at + 1];
    if (groupers.has(token) && next === "(") {
      const end = tokens.indexOf(")", at);
      grouping.push(...tokens.slice(at + 2, end).filter((each) => each !== ","));
      at = end;
    } else if (next === "{") {
      const end = tokens.indexOf("}", at);
      const inside = tokens.slice(at + 2, end);
      const labels = inside.filter((_, index) => /^(=|!=|=~|!~)$/.test(inside[index + 1] ?? ""));
      metrics.push({ name: token, labels });
      at = end;
    } else if (next !== "(" && !keywords.has(token) && !groupers.has(next ?? "")) {
      metrics.push({ name: token, labels: [] });
    }
  }
  return { metrics, grouping };
}

function tokensOf(expression: string): string[] {
  // Ranges name no metric.
  const text = expression.replaceAll(/\[[^\]]*\]/g, " ");
  return text.match(/"(?:[^"\\]|\\.)*"|=~|!~|!=|[<>=]=?|[a-zA-Z_:][\w:]*|[\d.]+\w*|\S/g) ?? [];
}

/** What there is not, in sentences; empty when all of it is there. */
export function problemsOf(expression: string): string[] {
  const { metrics, grouping } = askedBy(expression);
  const problems: string[] = [];
  const known = new Set<string>(targetLabels);
  for (const { name, labels } of metrics) {
    const own = labelsOf(name);
    if (own === undefined) {
      problems.push(`there is no metric ${name}`);
      continue;
    }
    for (const label of own) known.add(label);
    for (const label of labels) {
      if (!own.includes(label) && !targetLabels.includes(label)) {
        problems.push(`${name} has no label ${label}`);
      }
    }
  }
  if (metrics.length === 0) problems.push("it asks for no metric");
  for (const label of grouping) {
    if (!known.has(label)) problems.push(`nothing in it has the label ${label}`);
  }
  return problems;
}

/** Undefined when there is no such metric. */
function labelsOf(name: string): readonly string[] | undefined {
  const recorded = recordingRules.find(({ record }) => record === name);
  if (recorded !== undefined) return recorded.labels;
  for (const metric of allMetrics) {
    if (metric.type !== "histogram") {
      if (metric.name === name) return metric.labels;
    } else if (name === `${metric.name}_bucket`) {
      return [...metric.labels, "le"];
    } else if (name === `${metric.name}_sum` || name === `${metric.name}_count`) {
      return metric.labels;
    }
  }
  // Prometheus makes this one of the alarms.
  return name === "ALERTS" ? ["alertname", "alertstate", "severity", "name"] : undefined;
}
