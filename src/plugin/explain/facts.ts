// What pages about clusters, backups and restores have in common: whether a condition holds, how bad it looks, which
// figures there are.
import { conditionIn } from "../../kube/condition.ts";
import type { Condition } from "../../api/conditions.ts";
import type { ExplainedFact, ExplainedWait, Verdict } from "./page.ts";

interface Conditioned {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export function conditionFact({ status }: Conditioned, type: string): ExplainedFact {
  const found = conditionIn(status, type);
  if (found === undefined) return { answer: "unknown", text: "nobody has looked yet" };
  const answer = found.status === "True" ? "yes" : found.status === "False" ? "no" : "unknown";
  return { answer, text: found.message, since: found.lastTransitionTime };
}

/** Of a backup or a restore, before its own state is looked at; undefined when that decides. */
export function firstVerdict(
  {
    metadata,
    status,
  }: Conditioned & { readonly metadata: { readonly deletionTimestamp?: string } },
  waits: readonly ExplainedWait[],
): Verdict | undefined {
  const needsPerson = waits.some(({ concern }) => concern === "person");
  if (metadata.deletionTimestamp !== undefined) return needsPerson ? "stuck" : "deleting";
  if (status?.conditions === undefined) return "unseen";
  if (waits.some(({ reason }) => reason === "InvalidSpec")) return "invalid";
  return needsPerson ? "stuck" : undefined;
}

/** Those that have a text. */
export function knownFigures(
  all: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, text]) => (text ? [[name, text]] : [])),
  );
}
