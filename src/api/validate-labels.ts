// Labels and annotations in a spec: the API server does not look at them before a pod, a claim or a ConfigMap gets them, and
// then refuses that object. Rules: spec/api.md [API38], spec/fencing.md [FENCE15].
import { labelsOf, type NamedCluster } from "./effective.ts";
import {
  isAnnotationKey,
  isLabelKey,
  isLabelValue,
  labelKeyMessage,
  labelValueMessage,
} from "./label-syntax.ts";
import { problem, type ValidationProblem } from "./problem.ts";
import { stoppingAnnotations } from "./stopping-annotations.ts";

interface TemplateMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function labelProblems(cluster: NamedCluster): readonly ValidationProblem[] {
  const { labels = {}, processes = {}, configMap, faultDomain, localities = [] } = cluster.spec;
  const keyLists = {
    processGroupIDLabels: labels.processGroupIDLabels,
    processClassLabels: labels.processClassLabels,
  };
  const faultDomainKey = faultDomain?.key ?? "";
  return [
    ...labelMapProblems(labels.matchLabels, "spec.labels.matchLabels"),
    ...labelMapProblems(labels.resourceLabels, "spec.labels.resourceLabels"),
    ...Object.entries(keyLists).flatMap(([list, keys = []]) =>
      keys.flatMap((key, index) => keyProblems(key, `spec.labels.${list}[${index}]`)),
    ),
    ...(faultDomainKey === "" ? [] : keyProblems(faultDomainKey, "spec.faultDomain.key")),
    ...localities.flatMap(({ topologyKey = "" }, index) =>
      topologyKey === "" ? [] : keyProblems(topologyKey, `spec.localities[${index}].topologyKey`),
    ),
    ...nameLabelProblems(cluster),
    ...Object.entries(processes).flatMap(([name, { podTemplate, volumeClaimTemplate }]) => [
      ...templateMetadataProblems(podTemplate?.metadata, `spec.processes.${name}.podTemplate`),
      ...stoppingProblems(podTemplate?.metadata, `spec.processes.${name}.podTemplate`),
      ...templateMetadataProblems(
        volumeClaimTemplate?.metadata,
        `spec.processes.${name}.volumeClaimTemplate`,
      ),
    ]),
    ...templateMetadataProblems(configMap?.metadata, "spec.configMap"),
  ];
}

/** Of all pods of a class at once they would stop the database, or fight with what the operator writes there. */
function stoppingProblems(
  metadata: TemplateMetadata | undefined,
  path: string,
): readonly ValidationProblem[] {
  return Object.values(stoppingAnnotations).flatMap((key) => {
    const value = metadata?.annotations?.[key];
    if (value === undefined) return [];
    const message = `${key} stops the servers of a single pod, and a template would give it to all of them`;
    const remedy = "remove it; spec.fence names process groups whose servers are to be stopped";
    return [problem(`${path}.metadata.annotations.${key}`, value, message, remedy)];
  });
}

export function templateMetadataProblems(
  metadata: TemplateMetadata | undefined,
  path: string,
): readonly ValidationProblem[] {
  return metadataProblems(metadata, `${path}.metadata`);
}

export function metadataProblems(
  metadata: TemplateMetadata | undefined,
  path: string,
): readonly ValidationProblem[] {
  return [
    ...labelMapProblems(metadata?.labels, `${path}.labels`),
    ...Object.keys(metadata?.annotations ?? {}).flatMap((key) =>
      isAnnotationKey(key) ? [] : [badKey(key, `${path}.annotations`)],
    ),
  ];
}

/** Unless the spec names other labels, the objects of a cluster carry its name as the value of one. */
function nameLabelProblems(cluster: NamedCluster): readonly ValidationProblem[] {
  const { name = "" } = cluster.metadata;
  const { matchLabels, resourceLabels } = labelsOf(cluster);
  const isUsed = [matchLabels, resourceLabels].some((set) => Object.values(set).includes(name));
  if (!isUsed || isLabelValue(name)) return [];
  const message = `the name is the value of a label, and "${name}" cannot be: use ${labelValueMessage}`;
  const remedy = "choose another name, or give spec.labels.matchLabels and resourceLabels";
  return [problem("metadata.name", name, message, remedy)];
}

function labelMapProblems(
  labels: Readonly<Record<string, string>> | undefined,
  path: string,
): readonly ValidationProblem[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => {
    if (!isLabelKey(key)) return [badKey(key, path)];
    if (isLabelValue(value)) return [];
    const message = `"${value}" is no value of a label`;
    return [problem(`${path}.${key}`, value, message, `use ${labelValueMessage}`)];
  });
}

function keyProblems(key: string, field: string): readonly ValidationProblem[] {
  if (isLabelKey(key)) return [];
  return [problem(field, key, `"${key}" is no key of a label`, `use ${labelKeyMessage}`)];
}

function badKey(key: string, path: string): ValidationProblem {
  return problem(`${path}.${key}`, key, `"${key}" is no key`, `use ${labelKeyMessage}`);
}
