// Services of a database that sleeps. Coordinators are known by them, so one that somebody deletes is made again at once,
// before its address is given to another service. Rules: spec/hibernation.md [HIB20], [HIB21].
import type { Action } from "../action.ts";
import { addServices, restingAddress } from "../services/add-services.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import type { NewWait } from "../wait.ts";

const step = "hibernate";

interface Services {
  readonly actions: readonly Action[];
  readonly waits: readonly NewWait[];
}

/** What else the spec wants of services is brought about when the database wakes. */
export function sleepingServices(snapshot: Snapshot, draft: Draft): Services {
  const { actions = [] } = addServices(snapshot, draft);
  return {
    actions: actions.filter(({ type }) => type === "createService"),
    waits: draft.groups.flatMap((group) => {
      const { service } = viewOf(snapshot).of(group);
      const { clusterIP = "" } = service?.spec ?? {};
      const address = restingAddress(draft, group);
      if (service === undefined || address === undefined || clusterIP === address) return [];
      return [lostAddress(service.metadata.name ?? "", clusterIP, address)];
    }),
  };
}

function lostAddress(name: string, present: string, known: string): NewWait {
  return {
    step,
    reason: "SleepingAddressLost",
    message: `The service ${name} has the address ${present}, not ${known}, by which the coordinator behind it is known`,
    remedy: `Delete the service ${name} before the database wakes: it is made again with the address ${known}, unless another service has it by now.`,
    retryAfterMs: 600_000,
  };
}
