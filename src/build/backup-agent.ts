// The pod of a backup agent: the user's template with the agent, the cluster file and what FoundationDB needs. Commands run
// in pods of the same template. Carries the rules BK4 and BK5 of spec/backup.md.
import type { FoundationDBBackup } from "../api/backup.ts";
import { isUnifiedBackup } from "../api/effective-backup.ts";
import type { ImageConfig } from "../api/cluster.ts";
import type { Container, PodTemplateSpec, Volume } from "../kube/generated/types.ts";
import { clusterFileKey, configMapName } from "./config-map.ts";
import { imageFor, splitMainImage, splitSidecarImage, unifiedImage } from "./images.ts";
import { initContainerName, mainContainerName } from "./normalise.ts";
import { fromField, fromText, withEnvironment } from "./pod-environment.ts";
import { mounts, traceDirectory, withMounts } from "./pod-volumes.ts";
import { built, problem } from "./problem.ts";
import type { Built } from "./problem.ts";

const clusterFile = "fdb.cluster";
export const agentClusterFile = `/var/dynamic-conf/${clusterFile}`;
const templatePath = "spec.podTemplateSpec.spec";

/** Without the label by which the Deployment finds its pods. */
export function agentTemplate(backup: FoundationDBBackup): Built<PodTemplateSpec> {
  const given = backup.spec.podTemplateSpec ?? {};
  const containers = given.spec?.containers ?? [];
  const initContainers = given.spec?.initContainers ?? [];
  const main = mainContainer(backup, namedOf(containers, mainContainerName));
  if (!main.ok) return main;
  const init = initContainer(backup, namedOf(initContainers, initContainerName));
  if (!init.ok) return init;
  return built({
    ...given,
    spec: {
      ...given.spec,
      containers: placed(containers, main.value, "first"),
      initContainers: placed(initContainers, init.value, "last"),
      volumes: agentVolumes(backup.spec.clusterName, given.spec?.volumes ?? []),
    },
  });
}

function namedOf(containers: readonly Container[], name: string): Container {
  return containers.find((container) => container.name === name) ?? { name };
}

/** In the place of the container of its name, or at an end of the list. */
function placed(
  containers: readonly Container[],
  container: Container,
  place: "first" | "last",
): Container[] {
  if (containers.some(({ name }) => name === container.name)) {
    return containers.map((each) => (each.name === container.name ? container : each));
  }
  return place === "first" ? [container, ...containers] : [...containers, container];
}

function mainContainer(backup: FoundationDBBackup, given: Container): Built<Container> {
  const { spec } = backup;
  const image = imageOf(backup, given, mainImages(backup), "containers");
  if (!image.ok) return image;
  const args = [
    "--log",
    "--logdir",
    traceDirectory,
    "--locality_zoneid=$(FDB_ZONE_ID)",
    "--locality_machineid=$(FDB_MACHINE_ID)",
    ...(spec.dataCenter ? [`--locality_dcid=${spec.dataCenter}`] : []),
    ...(spec.customParameters ?? []).map((parameter) => `--${parameter}`),
  ];
  const container = { ...given, image: image.value, command: ["backup_agent"], args };
  const mounted = withMounts(container, [["logs", traceDirectory], mounts.dynamicConf]);
  const requests = given.resources?.requests ?? { cpu: "1", memory: "8Gi" };
  const limits = given.resources?.limits ?? requests;
  return built({
    ...withEnvironment(mounted, [
      fromText("FDB_CLUSTER_FILE", agentClusterFile),
      fromText("FDB_ZONE_ID", backup.metadata.name ?? ""),
      fromField("FDB_MACHINE_ID", "metadata.name"),
    ]),
    resources: { ...given.resources, requests, limits },
  });
}

/** Copies the cluster file to where the agent may write to it. */
function initContainer(backup: FoundationDBBackup, given: Container): Built<Container> {
  const isUnified = isUnifiedBackup(backup.spec);
  const configs = isUnified ? mainImages(backup) : sidecarImages(backup);
  const image = imageOf(backup, given, configs, "initContainers");
  if (!image.ok) return image;
  const mode = isUnified
    ? ["--mode", "init", "--output-dir", "/var/output-files", "--input-dir", "/var/input-files"]
    : ["--init-mode"];
  const args = ["--copy-file", clusterFile, "--require-not-empty", clusterFile, ...mode];
  const { readOnlyRootFilesystem = true } = given.securityContext ?? {};
  return built({
    ...withMounts({ ...given, image: image.value, args }, [
      mounts.configMapOfSidecar,
      mounts.dynamicConfOfSidecar,
    ]),
    securityContext: { ...given.securityContext, readOnlyRootFilesystem },
  });
}

function mainImages({ spec }: FoundationDBBackup): readonly ImageConfig[] {
  const baseImage = isUnifiedBackup(spec) ? unifiedImage : splitMainImage;
  return orElse(spec.mainContainer?.imageConfigs, { baseImage });
}

function sidecarImages({ spec }: FoundationDBBackup): readonly ImageConfig[] {
  const standard = { baseImage: splitSidecarImage, tagSuffix: "-1" };
  return orElse(spec.sidecarContainer?.imageConfigs, standard);
}

/** Whoever names images names all of their parts: nothing is added to them. */
function orElse(
  configs: readonly ImageConfig[] | undefined,
  standard: ImageConfig,
): readonly ImageConfig[] {
  return configs !== undefined && configs.length > 0 ? configs : [standard];
}

function imageOf(
  { spec }: FoundationDBBackup,
  { name, image }: Container,
  configs: readonly ImageConfig[],
  list: string,
): Built<string> {
  if (image?.includes(":") && spec.allowTagOverride === true) return built(image);
  const found = imageFor(image, configs, spec.version);
  if (found.ok) return found;
  const { value, remedy } = found.problem;
  return problem(`${templatePath}.${list}[name=${name}].image`, value, remedy);
}

/** A volume of the user with the same name stays as it is. */
function agentVolumes(clusterName: string, given: readonly Volume[]): Volume[] {
  const items = [{ key: clusterFileKey, path: clusterFile }];
  const wanted: Volume[] = [
    { name: "logs", emptyDir: {} },
    { name: "dynamic-conf", emptyDir: {} },
    { name: "config-map", configMap: { name: configMapName(clusterName), items } },
  ];
  const names = new Set(given.map(({ name }) => name));
  return [...given, ...wanted.filter(({ name }) => !names.has(name))];
}
