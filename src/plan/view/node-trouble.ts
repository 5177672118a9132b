// What is wrong with the node of a pod, as Kubernetes says it. Rules: spec/explain.md [E42], spec/plan.md [P112].
import { conditionIn } from "../../kube/condition.ts";
import type { Snapshot } from "../snapshot.ts";
import type { GroupView } from "./cluster-view.ts";

/** What is wrong with the node of a pod; undefined when it is well, or nobody may look. */
export function nodeTrouble(
  { nodes }: Pick<Snapshot, "nodes">,
  { pod, node }: Pick<GroupView, "pod" | "node">,
): string | undefined {
  const name = pod?.spec?.nodeName ?? "";
  if (nodes === undefined || name === "") return undefined;
  if (node === undefined) return `node ${name} does not exist any more`;
  const ready = conditionIn(node.status, "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  const why = ready.message || ready.reason || "no reason is given";
  return `node ${name} is not ready: ${why}`;
}
