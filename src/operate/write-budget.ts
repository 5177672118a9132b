// Writes the budget for evictions. It is changed whatever its figures say by then, since those change with every pod; another object
// of the name is left alone. Rules: spec/drains.md [DRAIN2], spec/operate.md [OP25].
import type { PodDisruptionBudget } from "../kube/generated/types.ts";
import type { Reflector } from "../kube/reflector.ts";
import { podDisruptionBudgets } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import type { Action } from "../plan/action.ts";
import { deleteExactly } from "./delete-exactly.ts";
import { createObject, newOwners } from "./write-object.ts";
import type { WriteTools } from "./write-object.ts";

type BudgetAction = Extract<
  Action,
  { type: "createDisruptionBudget" | "updateDisruptionBudget" | "deleteDisruptionBudget" }
>;

export async function writeBudget(
  tools: WriteTools,
  namespace: string,
  cache: Reflector<Stored<PodDisruptionBudget>> | undefined,
  action: BudgetAction,
): Promise<void> {
  // Without a look at budgets no plan asks for one.
  if (cache === undefined) return;
  if (action.type === "createDisruptionBudget") {
    return createObject(tools, podDisruptionBudgets, cache, action.object);
  }
  const { client, doubts } = tools;
  if (action.type === "deleteDisruptionBudget") {
    const deleting = { client, doubts, namespace };
    return deleteExactly(deleting, podDisruptionBudgets, cache, action.basis);
  }
  const { basis, owners, spec } = action;
  const key = { namespace, name: basis.name };
  const body = [
    { op: "test", path: "/metadata/uid", value: basis.uid },
    { op: "replace", path: "/spec", value: spec },
    // Somebody may have given it an owner meanwhile.
    ...(owners === undefined
      ? []
      : [{ op: "replace", path: "/metadata/resourceVersion", value: basis.resourceVersion }]),
    ...newOwners(owners),
  ];
  const place = { resource: podDisruptionBudgets, cache, key };
  cache.observeWrite(
    await doubts.during(place, () =>
      client.patch(podDisruptionBudgets, key, body, { type: "json" }),
    ),
  );
}
