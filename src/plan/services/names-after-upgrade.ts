// Host names that are turned on while all processes are about to change their version at once. A pod that was made without
// its name cannot take a configuration that asks for it, and the one restart waits for every pod to take the
// configuration. A pod made now might start with the new version, alone. So the names come after the upgrade.
// Rules: spec/upgrade.md [U88].
import { routingOf } from "../../api/effective.ts";
import { mainContainerName } from "../../build/normalise.ts";
import { isIncompatibleUpgrade } from "../view/running-version.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

const nameVariable = "FDB_DNS_NAME";

/** Without names as long as the upgrade would wait for pods that have none. */
export function withNamesAfterUpgrade(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  if (!routingOf(cluster.spec).definesDnsLocalityFields) return snapshot;
  if (!isUpgrading(snapshot) || !hasNamelessPod(snapshot)) return snapshot;
  const routing = {
    ...cluster.spec.routing,
    useDNSInClusterFile: false,
    defineDNSLocalityFields: false,
  };
  return { ...snapshot, cluster: { ...cluster, spec: { ...cluster.spec, routing } } };
}

function isUpgrading({ cluster: { spec, status } }: Snapshot): boolean {
  return isIncompatibleUpgrade(status?.runningVersion ?? spec.version, spec.version);
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
