// The pod of a process group: the user's template with everything in it that FoundationDB needs.
// Carries the rules B65 to B69 of spec/build.md.
import { imageTypeOf, processSettingsOf, routingOf } from "../api/effective.ts";
import type { Container, Pod, PodSpec } from "../kube/generated/types.ts";
import { podNameOf } from "../model/process-group-id.ts";
import { imageFor, podVersionOf, sidecarImageConfigs } from "./images.ts";
import { podAffinity } from "./pod-affinity.ts";
import { fromText, withEnvironment } from "./pod-environment.ts";
import { podMetadata } from "./pod-metadata.ts";
import { splitMain, splitSidecar } from "./pod-split.ts";
import type { PodSubject } from "./pod-subject.ts";
import { unifiedMain, unifiedSidecar } from "./pod-unified.ts";
import { podVolumes } from "./pod-volumes.ts";
import { built, problem } from "./problem.ts";
import type { Built } from "./problem.ts";
import { initContainerName, mainContainerName, sidecarContainerName } from "./normalise.ts";
import type { NormalCluster } from "./normalise.ts";
import { podSpecHash } from "./spec-hash.ts";

export interface PodExtras {
  /** Hash of the configuration that the pod starts with. */
  configMapHash?: string | undefined;
  /** Address of the pod's service, where that is its public one. */
  publicIp?: string | undefined;
}

export function pod(
  cluster: NormalCluster,
  subject: PodSubject,
  extras: PodExtras = {},
): Built<Pod> {
  const spec = podSpec(cluster, subject);
  if (!spec.ok) return spec;
  return built({
    apiVersion: "v1",
    kind: "Pod",
    metadata: podMetadata(cluster, subject, podSpecHash(spec.value), extras),
    spec: spec.value,
  });
}

export function podSpec(cluster: NormalCluster, subject: PodSubject): Built<PodSpec> {
  const { spec } = cluster;
  const template = processSettingsOf(spec, subject.processClass).podTemplate?.spec;
  const podName = podNameOf(
    cluster.metadata.name ?? "",
    subject.processClass,
    subject.processGroupID,
  );
  const path = templatePath(cluster, subject.processClass);
  const containers = builtAll(`${path}.containers`, template?.containers ?? [], (container) =>
    builtContainer(cluster, subject, podName, container),
  );
  if (!containers.ok) return containers;
  const given = template?.initContainers ?? [];
  const initContainers = builtAll(`${path}.initContainers`, given, (container) =>
    builtInitContainer(cluster, subject, podName, container),
  );
  if (!initContainers.ok) return initContainers;
  const affinity = podAffinity(cluster, subject, template?.affinity);
  const { initContainers: _, ...rest } = template ?? {};
  return built({
    ...rest,
    volumes: podVolumes(cluster, subject, podName, template?.volumes ?? []),
    ...(initContainers.value.length > 0 ? { initContainers: initContainers.value } : {}),
    containers: containers.value,
    ...(affinity ? { affinity } : {}),
    ...(routingOf(spec).needsHeadlessService
      ? { hostname: podName, subdomain: cluster.metadata.name ?? "" }
      : {}),
  });
}

/** Where in the resource the template of a class stands. */
function templatePath(cluster: NormalCluster, processClass: string): string {
  const owner = cluster.spec.processes?.[processClass]?.podTemplate ? processClass : "general";
  return `spec.processes.${owner}.podTemplate.spec`;
}

/** Builds each container, leaves out those that are not needed, and stops at the first problem. */
function builtAll(
  path: string,
  containers: readonly Container[],
  build: (container: Container) => Built<Container | undefined>,
): Built<Container[]> {
  const result: Container[] = [];
  for (const container of containers) {
    const one = build(container);
    if (!one.ok) {
      const { value, remedy } = one.problem;
      return problem(`${path}[name=${container.name}].image`, value, remedy);
    }
    if (one.value) result.push(one.value);
  }
  return built(result);
}

function builtContainer(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  container: Container,
): Built<Container> {
  const isUnified = imageTypeOf(cluster.spec) === "unified";
  if (container.name === mainContainerName)
    return mainContainer(cluster, subject, podName, container);
  if (container.name !== sidecarContainerName) return built(container);
  const sidecar = isUnified
    ? unifiedSidecar(cluster, subject, container)
    : splitSidecar(cluster, subject, podName, container, false);
  return sidecar.ok ? built(withReadOnlyRoot(sidecar.value)) : sidecar;
}

function builtInitContainer(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  container: Container,
): Built<Container | undefined> {
  if (container.name !== initContainerName) return built(container);
  if (imageTypeOf(cluster.spec) === "unified") return built(undefined);
  const init = splitSidecar(cluster, subject, podName, container, true);
  return init.ok ? built(withReadOnlyRoot(init.value)) : init;
}

function mainContainer(
  cluster: NormalCluster,
  subject: PodSubject,
  podName: string,
  container: Container,
): Built<Container> {
  const { spec } = cluster;
  const configs = spec.mainContainer?.imageConfigs ?? [];
  const image = imageFor(container.image, configs, podVersionOf(cluster));
  if (!image.ok) return image;
  const hasAuthorities = (spec.trustedCAs ?? []).length > 0;
  const start = withEnvironment({ ...container, image: image.value }, [
    fromText("FDB_CLUSTER_FILE", "/var/dynamic-conf/fdb.cluster"),
    ...(hasAuthorities ? [fromText("FDB_TLS_CA_FILE", "/var/dynamic-conf/ca.pem")] : []),
  ]);
  const main =
    imageTypeOf(spec) === "unified"
      ? unifiedMain(cluster, subject, podName, start)
      : splitMain(cluster, subject, start);
  return built(withReadOnlyRoot(main));
}

function withReadOnlyRoot(container: Container): Container {
  const { securityContext } = container;
  const readOnlyRootFilesystem = securityContext?.readOnlyRootFilesystem ?? true;
  return { ...container, securityContext: { ...securityContext, readOnlyRootFilesystem } };
}

/** The image that the sidecar of a class must run before an upgrade can go on: always that of the wanted version. */
export function desiredSidecarImage(cluster: NormalCluster, processClass: string): Built<string> {
  const template = processSettingsOf(cluster.spec, processClass).podTemplate?.spec;
  const sidecar = template?.containers?.find((each) => each.name === sidecarContainerName);
  return imageFor(sidecar?.image, sidecarImageConfigs(cluster.spec), cluster.spec.version);
}
