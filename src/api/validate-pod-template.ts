// Pod templates: what no operator can allow, and what the administrator of this one does not allow.
import type { Container, PodSpec, PodTemplateSpec, Volume } from "../kube/generated/types.ts";
import { problem, type ValidationProblem } from "./problem.ts";

/** What the operator's flags let users put into a pod template. An empty list allows everything. */
export interface PodTemplateLimits {
  readonly allowsAutomountServiceAccountToken: boolean;
  readonly allowsHostNetwork: boolean;
  readonly allowsHostIpc: boolean;
  readonly allowsHostPid: boolean;
  readonly serviceAccountNames: readonly string[];
  readonly volumeSources: readonly string[];
  readonly volumeMounts: readonly string[];
}

export const noPodTemplateLimits: PodTemplateLimits = {
  allowsAutomountServiceAccountToken: true,
  allowsHostNetwork: true,
  allowsHostIpc: true,
  allowsHostPid: true,
  serviceAccountNames: [],
  volumeSources: [],
  volumeMounts: [],
};

/** Containers whose image the operator completes with a version. */
const operatorContainers = [
  "foundationdb",
  "foundationdb-kubernetes-sidecar",
  "foundationdb-kubernetes-init",
];

export function podTemplateProblems(
  template: PodTemplateSpec | undefined,
  path: string,
  limits: PodTemplateLimits,
  options: { readonly allowsTags?: boolean } = {},
): readonly ValidationProblem[] {
  const spec = template?.spec;
  if (spec === undefined) return [];
  const specPath = `${path}.spec`;
  return [
    ...(options.allowsTags === true ? [] : imageProblems(spec, specPath)),
    ...limitProblems(spec, specPath, limits),
  ];
}

function imageProblems(spec: PodSpec, path: string): readonly ValidationProblem[] {
  return containersOf(spec).flatMap(({ container, place }) => {
    const { name, image } = container;
    if (image === undefined || !operatorContainers.includes(name) || !hasTag(image)) return [];
    const message = `the image of ${name} has a tag or digest, but its version comes from spec.version`;
    const remedy = "leave the tag out, or use imageConfigs to choose it";
    return [problem(`${path}.${place}.image`, image, message, remedy)];
  });
}

/** A colon before the last slash belongs to the port of a registry. */
export function hasTag(image: string): boolean {
  return image.includes("@") || image.slice(image.lastIndexOf("/") + 1).includes(":");
}

interface PlacedContainer {
  readonly container: Container;
  readonly place: string;
}

function containersOf(spec: PodSpec): readonly PlacedContainer[] {
  return [
    ...placed(spec.containers, "containers"),
    ...placed(spec.initContainers, "initContainers"),
  ];
}

function placed(
  containers: readonly Container[] | undefined,
  name: string,
): readonly PlacedContainer[] {
  return (containers ?? []).map((container, index) => ({ container, place: `${name}[${index}]` }));
}

function limitProblems(
  spec: PodSpec,
  path: string,
  limits: PodTemplateLimits,
): readonly ValidationProblem[] {
  const switches = [
    // Kubernetes mounts the token unless it is told not to.
    ["automountServiceAccountToken", limits.allowsAutomountServiceAccountToken, true],
    ["hostNetwork", limits.allowsHostNetwork, false],
    ["hostIPC", limits.allowsHostIpc, false],
    ["hostPID", limits.allowsHostPid, false],
  ] as const;
  const switched = switches.flatMap(([name, isAllowed, fallback]) =>
    isAllowed || !(spec[name] ?? fallback)
      ? []
      : [notAllowed(`${path}.${name}`, spec[name], `${name} is`, "set it to false")],
  );
  return [
    ...switched,
    ...accountProblems(spec, path, limits.serviceAccountNames),
    ...volumeProblems(spec, path, limits.volumeSources),
    ...mountProblems(spec, path, limits.volumeMounts),
  ];
}

function accountProblems(
  spec: PodSpec,
  path: string,
  allowed: readonly string[],
): readonly ValidationProblem[] {
  if (allowed.length === 0) return [];
  return (["serviceAccountName", "serviceAccount"] as const).flatMap((name) => {
    const account = spec[name];
    if (account === undefined || account === "" || allowed.includes(account)) return [];
    return [
      notAllowed(`${path}.${name}`, account, `service account ${account} is`, oneOf(allowed)),
    ];
  });
}

function volumeProblems(
  spec: PodSpec,
  path: string,
  allowed: readonly string[],
): readonly ValidationProblem[] {
  if (allowed.length === 0) return [];
  return (spec.volumes ?? []).flatMap((volume: Volume, index) =>
    Object.keys(volume)
      .filter((source) => source !== "name" && !allowed.includes(source))
      .map((source) =>
        notAllowed(
          `${path}.volumes[${index}].${source}`,
          volume.name,
          `volumes of type ${source} are`,
          oneOf(allowed),
        ),
      ),
  );
}

function mountProblems(
  spec: PodSpec,
  path: string,
  allowed: readonly string[],
): readonly ValidationProblem[] {
  if (allowed.length === 0) return [];
  return containersOf(spec).flatMap(({ container, place }) =>
    (container.volumeMounts ?? []).flatMap((mount, index) => {
      if (allowed.includes(mount.name)) return [];
      const field = `${path}.${place}.volumeMounts[${index}].name`;
      return [notAllowed(field, mount.name, `mounting ${mount.name} is`, oneOf(allowed))];
    }),
  );
}

function oneOf(allowed: readonly string[]): string {
  return `use one of ${allowed.join(", ")}`;
}

function notAllowed(
  field: string,
  value: unknown,
  subject: string,
  remedy: string,
): ValidationProblem {
  const message = `${subject} not allowed by the operator's settings`;
  return problem(field, value, message, `${remedy}, or ask the administrator of the operator`);
}
