// Host names that are turned on while all processes are about to change their version, or how they listen, at once. A pod
// that was made without its name cannot take a configuration that asks for it, and the one restart waits for every pod to
// take the configuration. A pod made now might start with the new version, alone, and one that is replaced may be a coordinator
// for which there is no other of its kind yet. So the names come afterwards.
// Rules: spec/upgrade.md [U88], spec/restart.md [T52].
import { routingOf } from "../../api/effective.ts";
import { mainContainerName } from "../../build/normalise.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";
import { withoutCommonChange } from "./common-change.ts";

const nameVariable = "FDB_DNS_NAME";

/** Without names as long as the change would wait for pods that have none. */
export function withNamesInTurn(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  if (!routingOf(cluster.spec).definesDnsLocalityFields) return snapshot;
  if (withoutCommonChange(cluster.spec, cluster.status) === cluster.spec) return snapshot;
  if (!hasNamelessPod(snapshot)) return snapshot;
  const routing = {
    ...cluster.spec.routing,
    useDNSInClusterFile: false,
    defineDNSLocalityFields: false,
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
}

/** The sidecar of a split pod leaves out what it does not know. */
function hasNamelessPod(snapshot: Snapshot): boolean {
  return [...snapshot.pods.values()].some((pod) => {
    if (pod.metadata.deletionTimestamp !== undefined) return false;
    if (shapeOfPod(snapshot, pod).imageType !== "unified") return false;
    const main = pod.spec?.containers.find(({ name }) => name === mainContainerName);
    return main?.env?.some(({ name }) => name === nameVariable) !== true;
  });
}
