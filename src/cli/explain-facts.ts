// Whether a condition of a resource holds, as a fact of a page.
import type { Condition } from "../api/conditions.ts";
import type { ExplainedFact } from "./explain-page.ts";

interface Conditioned {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export function conditionFact({ status }: Conditioned, type: string): ExplainedFact {
  const found = status?.conditions?.find((condition) => condition.type === type);
  if (found === undefined) return { answer: "unknown", text: "nobody has looked yet" };
  const answer = found.status === "True" ? "yes" : found.status === "False" ? "no" : "unknown";
  return { answer, text: found.message, since: found.lastTransitionTime };
}
