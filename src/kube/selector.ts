// Label selectors and node selector terms, judged as Kubernetes judges them.
import type { LabelSelector, Node, NodeSelector, NodeSelectorTerm } from "./generated/types.ts";

export type Labels = Readonly<Record<string, string>>;

interface Requirement {
  key: string;
  operator: string;
  values?: readonly string[];
}

/** An absent selector matches nothing, an empty one everything. */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  return (selector.matchExpressions ?? []).every((requirement) => holds(requirement, labels));
}

/** A node matches when any term does; a term without any requirement matches no node. */
export function matchesNodeSelector(selector: NodeSelector | undefined, node: Node): boolean {
  return (
    selector === undefined || selector.nodeSelectorTerms.some((term) => matchesTerm(term, node))
  );
}

export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return false;
  const nodeFields = { "metadata.name": node.metadata.name ?? "" };
  return (
    expressions.every((requirement) => holds(requirement, node.metadata.labels ?? {})) &&
    fields.every((requirement) => holds(requirement, nodeFields))
  );
}

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [actual, limit] = [Number(value), Number(values[0])];
      if (value === undefined || !Number.isInteger(actual) || !Number.isInteger(limit))
        return false;
      return operator === "Gt" ? actual > limit : actual < limit;
    }
    default:
      return false;
  }
}
