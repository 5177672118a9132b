// Step removeServices: the headless service goes when nothing needs the names that it gives. Services of single process
// groups go with them. Rules: spec/removal.md [R78], [R79], spec/plan.md [P97].
import { routingOf } from "../../api/effective.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIpAddress, parseAddress } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { hasCondition } from "../../model/process-group.ts";
import { hasServiceOfOtherFamily } from "./family-change.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";

const step = "removeServices";

export function removeServices(snapshot: Snapshot, draft: Draft): StepResult {
  const { metadata, spec } = snapshot.cluster;
  const name = metadata.name ?? "";
  const service = snapshot.services.get(name);
  if (service?.metadata.deletionTimestamp !== undefined || service === undefined) return nothing;
  const isNeeded = routingOf(spec).needsHeadlessService;
  if (isNeeded && !hasServiceOfOtherFamily(snapshot)) return nothing;
  const what = isNeeded
    ? `The headless service ${name} has to be recreated for another IP family`
    : `The headless service ${name} is not needed any more`;
  const { uid = "", resourceVersion = "", ownerReferences = [] } = service.metadata;
  if (ownerReferences.every((owner) => owner.uid !== metadata.uid)) {
    const message = `${what}, but it does not belong to this cluster`;
    const object = `service/${name}`;
    return { waits: [{ step, reason: "ServiceNotOwned", message, object, retryAfterMs: 15_000 }] };
  }
  const named = coordinatorsOf(draft.status.connectionString ?? "").find(isHostName);
  if (named !== undefined) {
    const remedy = "Nothing: it is deleted when the coordinators are known by their addresses.";
    return surplus(what, name, `coordinator ${named} is known by a name that it gives`, remedy);
  }
  const late = draft.groups.filter(mayKnowNames).map((group) => group.processGroupID);
  if (late.length > 0) {
    const remedy = "Nothing: it is deleted when they run with the new connection string.";
    return surplus(
      what,
      name,
      `${nameList(late)} may still look for coordinators by its names`,
      remedy,
    );
  }
  return { actions: [{ type: "deleteService", step, basis: { name, uid, resourceVersion } }] };
}

/** A process that has just started with an older cluster file finds the database only by what that file says. */
function mayKnowNames(group: ProcessGroup): boolean {
  return hasCondition(group, "IncorrectConfigMap") || hasCondition(group, "MissingProcesses");
}

function isHostName(text: string): boolean {
  const address = parseAddress(text);
  return address.ok && !isIpAddress(address.value);
}

function surplus(what: string, name: string, why: string, remedy: string): StepResult {
  const message = `${what}, but ${why}`;
  const object = `service/${name}`;
  return {
    waits: [{ step, reason: "ServiceSurplus", message, object, retryAfterMs: 15_000, remedy }],
  };
}
