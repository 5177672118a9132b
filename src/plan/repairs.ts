// Which actions of a plan only bring back what the stored status asks for: they rest on no decision that is not stored
// yet, so they are right even while the status cannot be written. Rules: spec/operate.md [OP72].
import type { ClusterStatus } from "../api/cluster.ts";
import type { Action } from "./action.ts";

export function repairsIn(
  actions: readonly Action[],
  stored: Pick<ClusterStatus, "processGroups"> | undefined,
): Action[] {
  const ids = new Set(stored?.processGroups?.map(({ processGroupID }) => processGroupID));
  return actions.filter((action) => {
    switch (action.type) {
      case "createPod":
      case "createPvc":
        return ids.has(action.processGroupId);
      case "createService":
        return action.processGroupId === undefined ? ids.size > 0 : ids.has(action.processGroupId);
      case "createConfigMap":
        return ids.size > 0;
      default:
        return false;
    }
  });
}
