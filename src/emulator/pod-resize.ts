// The subresource `resize` of pods: other CPU and memory for containers of a pod that stays. Everything else that is sent is
// ignored, and what may not change is refused in the words of the real server. [KAS46]
import { append } from "../env/long-lists.ts";
import type { Pod } from "../kube/generated/types.ts";
import { arrayAt, isJsonObject, jsonEqual, objectAt, stringAt } from "./json.ts";
import type { JsonObject } from "./json.ts";
import type { RuleContext } from "./kind.ts";
import { qualityOfService } from "./quality-of-service.ts";
import { amounts, podRequests } from "./scheduler-resources.ts";
import { fieldForbidden, fieldInvalid, forbidden, type FieldError } from "./status.ts";

const lists = ["containers", "initContainers"] as const;
const resizable: ReadonlySet<string> = new Set(["cpu", "memory"]);

/** What was sent becomes the live pod with the resources that were sent. */
export function keepAllButResources(live: JsonObject, object: JsonObject): void {
  const { managedFields, resourceVersion } = objectAt(object, "metadata");
  const metadata: JsonObject = { ...objectAt(live, "metadata"), resourceVersion };
  if (managedFields === undefined) delete metadata["managedFields"];
  else metadata["managedFields"] = managedFields;
  const sent = objectAt(object, "spec");
  const spec = objectAt(live, "spec");
  const isOrdered = lists.every((key) => arrayAt(sent, key).length === arrayAt(spec, key).length);
  for (const key of Object.keys(object)) if (live[key] === undefined) delete object[key];
  Object.assign(object, live, { metadata });
  if (!isOrdered) {
    object["spec"] = sent;
    return;
  }
  const resized: JsonObject = { ...spec };
  for (const key of lists) {
    if (spec[key] !== undefined) resized[key] = withResources(arrayAt(sent, key), spec[key]);
  }
  object["spec"] = resized;
}

function withResources(sent: readonly unknown[], live: unknown): unknown {
  const before = Array.isArray(live) ? (live as readonly unknown[]) : [];
  const isSame = before.every((one, at) => stringAt(one, "name") === stringAt(sent[at], "name"));
  if (!isSame) return sent;
  return before.map((one, at) => {
    const container = { ...objectAt(one) };
    for (const key of ["resources", "resizePolicy"]) {
      const value = objectAt(sent[at])[key];
      if (value === undefined) delete container[key];
      else container[key] = value;
    }
    return container;
  });
}

export function validatePodResize(pod: JsonObject, old: JsonObject): FieldError[] {
  const [after, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  const errors: FieldError[] = [];
  const had = stringAt(old, "status", "qosClass") || qualityOfService(before);
  if (had !== qualityOfService(after)) {
    const detail = "Pod QOS Class may not change as a result of resizing";
    errors.push(fieldInvalid("spec", had, detail));
  }
  if (!isSupported(old)) {
    errors.push(fieldForbidden("spec", "Pod running on node without support for resize"));
  }
  const disorder = orderErrors(after, before);
  append(errors, disorder);
  if (disorder.length > 0) return errors;
  for (const key of ["initContainers", "containers"] as const) {
    append(errors, removals(after, before, key));
  }
  for (const key of lists) append(errors, otherChanges(after, before, key));
  return errors;
}

/** A kubelet that can resize says with what the containers run. */
function isSupported(pod: JsonObject): boolean {
  const running = arrayAt(pod, "status", "containerStatuses").find((status) =>
    isJsonObject(objectAt(status, "state")["running"]),
  );
  return running === undefined || isJsonObject(objectAt(running)["resources"]);
}

function orderErrors(after: JsonObject, before: JsonObject): FieldError[] {
  return lists.flatMap((key) => {
    const [now, then] = [arrayAt(after, key), arrayAt(before, key)];
    const path = `spec.${key}`;
    if (now.length !== then.length) {
      return [fieldForbidden(path, `${key} may not be added or removed on resize`)];
    }
    return then.flatMap((one, at) =>
      stringAt(one, "name") === stringAt(now[at], "name")
        ? []
        : [
            fieldForbidden(
              `${path}[${at}].name`,
              `${key} may not be renamed or reordered on resize`,
            ),
          ],
    );
  });
}

function removals(after: JsonObject, before: JsonObject, key: string): FieldError[] {
  return arrayAt(before, key).flatMap((one, at) =>
    ["requests", "limits"].flatMap((list) => {
      const then = objectAt(one, "resources", list);
      const now = objectAt(arrayAt(after, key)[at], "resources", list);
      if (Object.keys(then).every((name) => now[name] !== undefined)) return [];
      const path = `spec.${key}[${at}].resources.${list}`;
      return [fieldForbidden(path, `resource ${list} cannot be removed`)];
    }),
  );
}

function otherChanges(
  after: JsonObject,
  before: JsonObject,
  key: (typeof lists)[number],
): FieldError[] {
  return arrayAt(before, key).flatMap((one, at) => {
    const now = arrayAt(after, key)[at];
    if (jsonEqual(withoutResizable(one), withoutResizable(now))) return [];
    if (key === "containers") {
      return [fieldForbidden("spec", "only cpu and memory resources are mutable")];
    }
    const detail = "only cpu and memory resources for init or sidecar containers are mutable";
    return [fieldForbidden(`spec.${key}[${at}]`, detail)];
  });
}

function withoutResizable(container: unknown): JsonObject {
  const copy = { ...objectAt(container) };
  const resources: JsonObject = { ...objectAt(copy, "resources") };
  for (const list of ["requests", "limits"]) {
    const rest = Object.entries(objectAt(resources, list)).filter(([name]) => !resizable.has(name));
    resources[list] = Object.fromEntries(rest);
  }
  copy["resources"] = resources;
  return copy;
}

/** A pod cannot ask for more than its node has, however empty that may be. */
export function admitPodResize(pod: JsonObject, old: JsonObject, { store }: RuleContext): void {
  const nodeName = stringAt(pod, "spec", "nodeName");
  if (nodeName === "" || jsonEqual(pod["spec"], old["spec"])) return;
  const name = stringAt(pod, "metadata", "name");
  const pods = { group: "", plural: "pods" };
  const node = store.get("/nodes", "", nodeName);
  if (node === undefined) throw forbidden(pods, name, `node "${nodeName}" not found`);
  const allocatable = amounts(objectAt(node, "status", "allocatable") as Record<string, string>);
  const requests = podRequests(pod as unknown as Pod);
  const short = ["cpu", "memory"].flatMap((resource) => {
    const [asked, there] = [requests[resource] ?? 0, allocatable[resource] ?? 0];
    return asked > there ? [`${resource}, requested: ${asked}, allocatable: ${there}`] : [];
  });
  if (short.length === 0) return;
  const why = `node didn't have enough allocatable resources: ${short.join("; ")}`;
  throw forbidden(pods, name, why, [{ reason: "NodeCapacity" }]);
}
