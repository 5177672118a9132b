// Names that the operator will make from a spec: they must be names that Kubernetes takes.
import { classInName } from "../model/process-class.ts";
import { routingOf, type NamedCluster } from "./effective.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { labelValueMaxLength } from "./validate-packing.ts";
import { wantedCounts } from "./wanted-counts.ts";

/** Numbers of process groups have at most five digits. */
const numberLength = 5;

export function nameProblems(cluster: NamedCluster): readonly ValidationProblem[] {
  const { spec } = cluster;
  const name = cluster.metadata.name ?? "";
  const prefix = spec.processGroupIDPrefix ?? "";
  const problems: ValidationProblem[] = [];
  if (prefix.includes(".")) {
    const message = "ids of process groups cannot hold a dot";
    problems.push(problem("spec.processGroupIDPrefix", prefix, message, "use dashes"));
  }
  const counts = wantedCounts(spec);
  const longestClass = longest(Object.keys(counts));
  const idLength = (prefix === "" ? 0 : prefix.length + 1) + longestClass.length + 1 + numberLength;
  if (idLength > labelValueMaxLength) {
    const message = `ids of ${longestClass} process groups would have ${idLength} characters`;
    const remedy = `shorten it by ${idLength - labelValueMaxLength}`;
    problems.push(problem("spec.processGroupIDPrefix", prefix, message, remedy));
  }
  const { needsHeadlessService, publicIpSource } = routingOf(spec);
  if (name.includes(".") && (needsHeadlessService || publicIpSource === "service")) {
    const message = "services are named after the cluster, and their names cannot hold a dot";
    const remedy = "use dashes, or turn DNS names off and take addresses from pods";
    problems.push(problem("metadata.name", name, message, remedy));
  }
  const podNameLength = name.length + 1 + classInName(longestClass).length + 1 + numberLength;
  if (needsHeadlessService && podNameLength > labelValueMaxLength) {
    const message = `host names of ${longestClass} pods would have ${podNameLength} characters`;
    const remedy = `shorten it by ${podNameLength - labelValueMaxLength}, or turn DNS names off`;
    problems.push(problem("metadata.name", name, message, remedy));
  }
  return problems;
}

function longest(names: readonly string[]): string {
  return names.toSorted((a, b) => b.length - a.length)[0] ?? "";
}
