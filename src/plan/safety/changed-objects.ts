// Whether what an act was decided on is still what there is: its pods, and the process groups that they belong to.
// Rules: spec/safety.md [S73], [S74], [S166].
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { processesOfInstance } from "../../model/locality.ts";
import type { DisruptiveAction } from "../action.ts";
import { groupsNamed } from "./touched-groups.ts";
import type { SafetyView } from "./view.ts";

/** The objects that the act was decided on must still be those that exist. */
export function changedObjects(view: SafetyView, action: DisruptiveAction): string | undefined {
  if (action.type !== "deletePods" && action.type !== "fencePods") return undefined;
  for (const { basis, processGroupId } of action.pods) {
    const pod = view.pods.get(basis.name);
    if (pod === undefined || pod.metadata.uid !== basis.uid) return "the pod is another one";
    if (action.type === "fencePods") continue;
    const phase = pod.status?.phase;
    const isTerminal = phase === "Failed" || phase === "Succeeded";
    if (action.because === "terminal" && !isTerminal) return "the pod has not ended";
    if (action.because === "unstarted" && hasStarted(view, pod, processGroupId)) {
      return "the pod has started";
    }
  }
  return undefined;
}

/** Its containers run, or the database knows a process of it. */
function hasStarted(view: SafetyView, pod: Stored<Pod>, processGroupId: string): boolean {
  const phase = pod.status?.phase ?? "Pending";
  if (phase !== "Pending" || view.database.kind !== "seen") return phase !== "Pending";
  return processesOfInstance(view, view.database.status, processGroupId).length > 0;
}

/** What the resource does not list is charged to nothing, so that its loss would look like none. */
export function unlistedProblem(view: SafetyView, action: DisruptiveAction): string | undefined {
  const orders = ordersOf(action);
  const listed = new Set(groupsNamed(view, orders).map((group) => group.processGroupID));
  const unlisted = orders.find(({ processGroupId }) => !listed.has(processGroupId));
  if (unlisted === undefined) return undefined;
  return `the status of the resource does not list ${unlisted.processGroupId} any more`;
}

/** People's own faults are not judged [S80]. */
function ordersOf(action: DisruptiveAction): readonly { processGroupId: string }[] {
  if (action.type === "removeProcessGroups") return action.groups;
  if (action.type === "fencePods") return action.pods;
  return action.type === "deletePods" && action.because !== "buggify" ? action.pods : [];
}
