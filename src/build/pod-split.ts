// The containers of a pod of the split image: fdbmonitor, and a sidecar that copies files and binaries and fills
// variables into the configuration, once before the start and then on request.
// Carries the rules B61 to B64 of spec/build.md.
import {
  logGroupOf,
  needsExplicitListenAddress,
  routingOf,
  serversPerPod,
} from "../api/effective.ts";
import type { Container, Probe } from "../kube/generated/types.ts";
import { imageFor, podVersionOf } from "./images.ts";
import { localityVariables } from "./locality-arguments.ts";
import { isCrashLooping } from "./normalise.ts";
import type { NormalCluster } from "./normalise.ts";
import {
  dnsVariables,
  fromText,
  serversPerPodVariable,
  substitutionVariables,
  withEnvironment,
} from "./pod-environment.ts";
import type { PodSubject } from "./pod-subject.ts";
import { mounts, traceDirectory, withMounts } from "./pod-volumes.ts";
import { built } from "./problem.ts";
import type { Built } from "./problem.ts";

const confDirectory = "/var/dynamic-conf";

export function splitMain(
  cluster: NormalCluster,
  subject: PodSubject,
  container: Container,
): Container {
  const crashes = isCrashLooping(cluster.spec, container.name, subject.processGroupID);
  const script = [
    `fdbmonitor --conffile ${confDirectory}/fdbmonitor.conf`,
    `--lockfile ${confDirectory}/fdbmonitor.lockfile --loggroup ${logGroupOf(cluster)}`,
    `>> ${traceDirectory}/fdbmonitor-$(date '+%Y-%m-%d').log 2>&1`,
  ].join(" ");
  return withMounts(
    { ...container, command: ["sh", "-c"], args: [crashes ? "crash-loop" : script] },
    [mounts.data, mounts.dynamicConf, mounts.traces],
  );
}

/** The same container before the start (`isInit`) and beside the main one. */
export function splitSidecar(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  container: Container,
  isInit: boolean,
): Built<Container> {
  const { spec } = cluster;
  const configs = spec.sidecarContainer?.imageConfigs ?? [];
  const image = imageFor(container.image, configs, podVersionOf(cluster));
  if (!image.ok) return image;
  const crashes = isCrashLooping(spec, container.name, subject.processGroupID);
  const args = crashes ? ["crash-loop"] : sidecarArguments(cluster, isInit);
  const mounted = withMounts({ ...container, image: image.value, args }, [
    mounts.configMapOfSidecar,
    mounts.dynamicConfOfSidecar,
  ]);
  const withVariables = withEnvironment(mounted, [
    ...substitutionVariables(spec, subject),
    ...dnsVariables(cluster, podName),
  ]);
  return built(isInit ? withVariables : runningSidecar(cluster, subject, withVariables));
}

function sidecarArguments(cluster: NormalCluster, isInit: boolean): string[] {
  const { spec } = cluster;
  const { podIpFamily, definesDnsLocalityFields } = routingOf(spec);
  const args = ["--copy-file", "fdb.cluster"];
  if ((spec.trustedCAs ?? []).length > 0) args.push("--copy-file", "ca.pem");
  args.push("--input-monitor-conf", "fdbmonitor.conf", "--copy-binary", "fdbserver");
  args.push("--copy-binary", "fdbcli", "--main-container-version", podVersionOf(cluster));
  if (podIpFamily !== 0) args.push("--public-ip-family", String(podIpFamily));
  if (podIpFamily === 6) args.push("--bind-address", "[::]:8080");
  const variables = [
    ...(needsExplicitListenAddress(spec) ? ["FDB_POD_IP"] : []),
    ...(spec.sidecarVariables ?? []),
    ...localityVariables(spec),
    ...(definesDnsLocalityFields ? ["FDB_DNS_NAME"] : []),
  ];
  for (const name of variables) args.push("--substitute-variable", name);
  if (isInit) args.push("--init-mode");
  else if (spec.sidecarContainer?.enableTls) args.push("--tls");
  return args;
}

function runningSidecar(
  cluster: NormalCluster,
  subject: PodSubject,
  container: Container,
): Container {
  const { spec } = cluster;
  const servers = serversPerPod(spec, subject.processClass);
  const hasAuthorities = (spec.trustedCAs ?? []).length > 0;
  return withProbes(
    cluster,
    withEnvironment(container, [
      fromText("FDB_TLS_VERIFY_PEERS", spec.sidecarContainer?.peerVerificationRules ?? ""),
      ...(hasAuthorities ? [fromText("FDB_TLS_CA_FILE", "/var/input-files/ca.pem")] : []),
      ...(servers > 1
        ? [fromText(serversPerPodVariable(subject.processClass), String(servers))]
        : []),
    ]),
  );
}

/** The sidecar's server may ask for a client certificate, so a probe only opens a connection. */
const connection: Probe = { tcpSocket: { port: 8080 } };

function withProbes(cluster: NormalCluster, container: Container): Container {
  const overrides = cluster.spec.sidecarContainer;
  const result = { ...container };
  if (overrides?.enableLivenessProbe ?? true) {
    result.livenessProbe ??= {
      ...connection,
      timeoutSeconds: 1,
      periodSeconds: 30,
      failureThreshold: 5,
    };
  }
  if (overrides?.enableReadinessProbe ?? false) result.readinessProbe ??= connection;
  return result;
}
