// A resource with everything filled in that builders take for granted: containers and their resources, images, and
// settings moved out of deprecated fields. This happens in memory only and is never written back to the resource.
// Carries the rules B10 to B14 of spec/build.md.
import type {
  ClusterSpec,
  ContainerOverrides,
  FoundationDBCluster,
  ImageConfig,
  ProcessSettings,
} from "../api/cluster.ts";
import { imageTypeOf } from "../api/effective.ts";
import type { Container, PodTemplateSpec } from "../kube/generated/types.ts";
import { splitMainImage, splitSidecarImage, unifiedImage } from "./images.ts";

export const mainContainerName = "foundationdb";
export const sidecarContainerName = "foundationdb-kubernetes-sidecar";
export const initContainerName = "foundationdb-kubernetes-init";

const normal: unique symbol = Symbol("normal");

/** A cluster that went through `normalCluster`; builders take no other. */
export interface NormalCluster extends FoundationDBCluster {
  readonly [normal]: true;
}

export function normalCluster(cluster: FoundationDBCluster): NormalCluster {
  return { ...cluster, spec: normalSpec(cluster.spec), [normal]: true };
}

function normalSpec(spec: ClusterSpec): ClusterSpec {
  const isUnified = imageTypeOf(spec) === "unified";
  return {
    ...spec,
    processes: normalProcesses(spec, isUnified),
    mainContainer: withImage(spec.mainContainer, {
      baseImage: isUnified ? unifiedImage : splitMainImage,
    }),
    ...(isUnified
      ? {}
      : {
          sidecarContainer: withImage(spec.sidecarContainer, {
            baseImage: splitSidecarImage,
            tagSuffix: "-1",
          }),
        }),
    ...(spec.buggify ? { buggify: withoutCrashLoop(spec.buggify) } : {}),
  };
}

function withImage(
  overrides: ContainerOverrides | undefined,
  standard: ImageConfig,
): ContainerOverrides {
  const configs = overrides?.imageConfigs ?? [];
  const parts = ["version", "baseImage", "tag", "tagSuffix"] as const;
  const isThere = configs.some((config) =>
    parts.every((part) => (config[part] || "") === (standard[part] || "")),
  );
  return { ...overrides, imageConfigs: isThere ? configs : [...configs, standard] };
}

function normalProcesses(
  spec: ClusterSpec,
  isUnified: boolean,
): Readonly<Record<string, ProcessSettings>> {
  const general = spec.processes?.["general"];
  const withGeneral: Record<string, ProcessSettings> = {
    ...spec.processes,
    general: { ...general, podTemplate: general?.podTemplate ?? {} },
  };
  return Object.fromEntries(
    Object.entries(withGeneral).map(([name, settings]) => [
      name,
      settings.podTemplate
        ? { ...settings, podTemplate: normalTemplate(settings.podTemplate, isUnified) }
        : settings,
    ]),
  );
}

function normalTemplate(template: PodTemplateSpec, isUnified: boolean): PodTemplateSpec {
  const withMain = ensured(template.spec?.containers ?? [], mainContainerName, "first");
  const containers = ensured(withMain, sidecarContainerName, "last").map((container) => {
    if (container.name === mainContainerName) return withResources(container, "1", "8Gi");
    if (container.name === sidecarContainerName) return withResources(container, "100m", "256Mi");
    return container;
  });
  if (isUnified) return { ...template, spec: { ...template.spec, containers } };
  const given = template.spec?.initContainers ?? [];
  const initContainers = ensured(given, initContainerName, "last").map((container) =>
    container.name === initContainerName ? withResources(container, "100m", "256Mi") : container,
  );
  return { ...template, spec: { ...template.spec, containers, initContainers } };
}

function ensured(
  containers: readonly Container[],
  name: string,
  place: "first" | "last",
): Container[] {
  if (containers.some((container) => container.name === name)) return [...containers];
  return place === "first" ? [{ name }, ...containers] : [...containers, { name }];
}

function withResources(container: Container, cpu: string, memory: string): Container {
  const requests = container.resources?.requests ?? { cpu, memory };
  const limits = container.resources?.limits ?? requests;
  return { ...container, resources: { ...container.resources, requests, limits } };
}

type Buggify = NonNullable<ClusterSpec["buggify"]>;

/** The older list of crash loops means the main container. */
function withoutCrashLoop(buggify: Buggify): Buggify {
  const { crashLoop, ...rest } = buggify;
  if (!crashLoop || crashLoop.length === 0) return buggify;
  const targetsByName = new Map<string, Set<string>>();
  const entries = [
    ...(buggify.crashLoopContainers ?? []),
    { containerName: mainContainerName, targets: crashLoop },
  ];
  for (const { containerName = "", targets = [] } of entries) {
    const known = targetsByName.get(containerName) ?? new Set<string>();
    for (const target of targets) known.add(target);
    targetsByName.set(containerName, known);
  }
  const crashLoopContainers = [...targetsByName].map(([containerName, targets]) => ({
    containerName,
    targets: [...targets].toSorted(),
  }));
  return { ...rest, crashLoopContainers };
}

/** Whether a container of a process group is told to crash. */
export function isCrashLooping(
  spec: ClusterSpec,
  containerName: string,
  processGroupId: string,
): boolean {
  return (spec.buggify?.crashLoopContainers ?? []).some(
    (entry) =>
      entry.containerName === containerName &&
      (entry.targets ?? []).some((target) => target === "*" || target === processGroupId),
  );
}
