// The containers of a pod of the unified image: a monitor that runs fdbserver, and a sidecar of the same image that hands
// over the binaries of another version. Carries the rules B58 to B60 of spec/build.md.
import { logGroupOf, serversPerPod } from "../api/effective.ts";
import type { Container, EnvVar } from "../kube/generated/types.ts";
import { imageFor, podVersionOf } from "./images.ts";
import { needsNodeWatch } from "./locality-arguments.ts";
import { isCrashLooping } from "./normalise.ts";
import type { NormalCluster } from "./normalise.ts";
import {
  dnsVariables,
  fromField,
  fromText,
  serversPerPodVariable,
  substitutionVariables,
  withEnvironment,
} from "./pod-environment.ts";
import type { PodSubject } from "./pod-subject.ts";
import { mounts, traceDirectory, withMounts } from "./pod-volumes.ts";
import { built } from "./problem.ts";
import type { Built } from "./problem.ts";

const monitorLog = `${traceDirectory}/monitor.log`;
const crash = { command: ["crash-loop"], args: ["crash-loop"] };

export function unifiedMain(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  container: Container,
): Container {
  const servers = serversPerPod(cluster.spec, subject.processClass);
  const count = servers > 1 ? ["--process-count", String(servers)] : [];
  const args = ["--input-dir", "/var/dynamic-conf", "--log-path", monitorLog, ...count];
  const mounted = withMounts({ ...container, args }, [
    mounts.data,
    mounts.configMapOfUnified,
    mounts.sharedBinaries,
    mounts.traces,
  ]);
  const result = withEnvironment(mounted, variablesOf(cluster, subject, podName, servers));
  const crashes = isCrashLooping(cluster.spec, container.name, subject.processGroupID);
  return crashes ? { ...result, ...crash } : result;
}

function variablesOf(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  servers: number,
): EnvVar[] {
  const count =
    servers > 1 ? [fromText(serversPerPodVariable(subject.processClass), String(servers))] : [];
  return [
    ...count,
    fromField("FDB_POD_NAME", "metadata.name"),
    fromField("FDB_POD_NAMESPACE", "metadata.namespace"),
    fromText("FDB_NETWORK_OPTION_TRACE_LOG_GROUP", logGroupOf(cluster)),
    fromText("FDB_NETWORK_OPTION_TRACE_ENABLE", traceDirectory),
    fromField("FDB_NODE_NAME", "spec.nodeName"),
    ...substitutionVariables(cluster.spec, subject),
    ...dnsVariables(cluster, podName),
    ...(needsNodeWatch(cluster.spec) ? [fromText("ENABLE_NODE_WATCH", "true")] : []),
  ];
}

export function unifiedSidecar(
  cluster: NormalCluster,
  subject: PodSubject,
  container: Container,
): Built<Container> {
  const version = podVersionOf(cluster);
  const image = imageFor(container.image, cluster.spec.mainContainer?.imageConfigs ?? [], version);
  if (!image.ok) return image;
  const args = ["--mode", "sidecar", "--output-dir", "/var/fdb/shared-binaries"];
  args.push("--main-container-version", version, "--copy-binary", "fdbserver");
  args.push("--copy-binary", "fdbcli", "--log-path", monitorLog);
  const result = withMounts({ ...container, image: image.value, args }, [
    mounts.sharedBinaries,
    mounts.traces,
  ]);
  const crashes = isCrashLooping(cluster.spec, container.name, subject.processGroupID);
  return built(crashes ? { ...result, ...crash } : result);
}
