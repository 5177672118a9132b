// TLS is turned on for a running cluster when all its pods have the certificates that the template gives them: a pod
// from before would listen with TLS and be understood by nobody. Until then the steps see a cluster without TLS, so that
// pods are updated as at any other time. Rule: spec/restart.md [T77].
import { processSettingsOf } from "../../api/effective.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Container, Pod } from "../../kube/generated/types.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import { discoverGroups } from "../process-groups/discovery.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { knownConnectionString } from "../view/known-connection-string.ts";

const variables: readonly string[] = [
  "FDB_TLS_CERTIFICATE_FILE",
  "FDB_TLS_KEY_FILE",
  "FDB_TLS_CA_FILE",
];

export function withCertificatesFirst(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const { mainContainer } = cluster.spec;
  if (mainContainer?.enableTls !== true || hasBegun(snapshot)) return snapshot;
  const isLacking = (group: ProcessGroup): boolean => {
    const { processClass, exclusionSkipped } = group;
    const { pod } = viewOf(snapshot).of(group);
    // Nobody waits for what is removed without being excluded.
    if (pod === undefined || exclusionSkipped === true) return false;
    return lacksCertificates(cluster.spec, processClass, pod);
  };
  // A status that was lost knows no process groups, and their pods lack certificates all the same.
  const groups = discoverGroups(snapshot, cluster.status?.processGroups ?? []);
  if (!groups.some(isLacking)) return snapshot;
  const spec = { ...cluster.spec, mainContainer: { ...mainContainer, enableTls: false } };
  return { ...snapshot, cluster: { ...cluster, spec } };
}

/** Processes listen with TLS already; where the status was lost, the connection string shows it. */
function hasBegun(snapshot: Snapshot): boolean {
  if (snapshot.cluster.status?.requiredAddresses?.tls === true) return true;
  return coordinatorsOf(knownConnectionString(snapshot)).some((each) => each.endsWith(":tls"));
}

/** Files are known by the variables that name them and by the volumes that are mounted. */
function lacksCertificates(spec: ClusterSpec, processClass: string, pod: Pod): boolean {
  const { podTemplate } = processSettingsOf(spec, processClass);
  const wanted = mainOf(podTemplate?.spec?.containers);
  const live = mainOf(pod.spec?.containers);
  const mounts = new Set((live?.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  return (
    (wanted?.env ?? [])
      .filter(({ name }) => variables.includes(name))
      .some(
        ({ name, value }) => !live?.env?.some((has) => has.name === name && has.value === value),
      ) || (wanted?.volumeMounts ?? []).some(({ mountPath }) => !mounts.has(mountPath))
  );
}

function mainOf(containers: readonly Container[] | undefined): Container | undefined {
  return containers?.find(({ name }) => name === mainContainerName);
}
