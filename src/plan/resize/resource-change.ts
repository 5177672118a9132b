// How a pod differs from the one that its process group should have: in CPU and memory of its containers alone, or in more.
// That it is in these alone is proved by hashes: the wanted specification with the resources that the pod has is what the pod
// was made from. Rules: spec/pod-resize.md [SIZE1], [SIZE7], [SIZE9], [SIZE10].
import { automationOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import { podSpecHash } from "../../build/spec-hash.ts";
import type { Container, Pod, PodSpec } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { compareQuantities } from "../../model/quantity.ts";
import type { Desired, DesiredObject } from "../view/desired.ts";
import { resizeTargetOf } from "./resize-mark.ts";

type Amounts = Readonly<Record<string, string | number>>;

export interface ContainerResize {
  readonly name: string;
  readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
}

export type PodDifference =
  | { readonly kind: "none" }
  /** In more than CPU and memory, or it cannot be told, or people want it so. */
  | { readonly kind: "other" }
  | {
      readonly kind: "resources";
      /** What its spec does not have yet; empty when it was told all of it. */
      readonly lacking: readonly ContainerResize[];
      /** It has more in its spec than one of the limits that it lacks. */
      readonly isLower: boolean;
      /** Why it cannot be told in place, as a clause. */
      readonly obstacle?: string;
    };

export const resizedResources = ["cpu", "memory"] as const;
export const resourceLists = ["requests", "limits"] as const;
type List = (typeof resourceLists)[number];

const none: PodDifference = { kind: "none" };
const other: PodDifference = { kind: "other" };

export function podDifference(
  desired: Desired,
  pod: Stored<Pod>,
  wanted: DesiredObject<Stored<Pod>>,
): PodDifference {
  return desired.podDifference(pod, wanted, () => found(desired, pod, wanted));
}

function found(
  desired: Desired,
  pod: Stored<Pod>,
  { object, specHash }: DesiredObject<Stored<Pod>>,
): PodDifference {
  const note = pod.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  const isNoted = note === specHash;
  const hasMark = pod.metadata.annotations?.[annotationKeys.resizeTarget] !== undefined;
  if (isNoted && !hasMark) return none;
  const { podResourcesChange } = desired.memory.once(automationOf, desired.cluster.spec);
  if (note === undefined || (podResourcesChange === "Recreate" && !isNoted)) return other;
  const spec = object.spec ?? { containers: [] };
  const live = liveContainers(pod, spec);
  if (live === undefined) return isNoted ? none : other;
  // What is noted as wanted and marked was resized by us, and that was taken back.
  const hashes = new Set([note, resizeTargetOf(pod)]);
  const had = isNoted
    ? live
    : candidates(spec, live).find((one) => hashes.has(hashWith(spec, one)));
  if (had === undefined) return other;
  const lacking = spec.containers.flatMap((container, at) => lackingOf(container, live[at] ?? {}));
  if (lacking.length === 0) return { kind: "resources", lacking, isLower: false };
  const isLower = lacking.some((one) => isLowerIn(one, pod));
  const obstacle = obstacleTo(spec, lacking) ?? (isNoted ? undefined : removalIn(spec, had));
  return obstacle === undefined
    ? { kind: "resources", lacking, isLower }
    : { kind: "resources", lacking, isLower, obstacle };
}

/** A limit where there was none is a lower one. Requests take nothing away from who runs. */
function isLowerIn({ name, resources }: ContainerResize, { spec }: Stored<Pod>): boolean {
  const has = spec?.containers.find((one) => one.name === name)?.resources?.limits;
  return Object.entries(resources.limits ?? {}).some(([resource, amount]) => {
    const given = has?.[resource];
    return given === undefined || compareQuantities(given, amount) > 0;
  });
}

type Resources = NonNullable<Container["resources"]>;

/** Of the containers in the order of the wanted ones; undefined when one is missing. */
function liveContainers(pod: Stored<Pod>, { containers }: PodSpec): Resources[] | undefined {
  const byName = new Map(pod.spec?.containers.map((one) => [one.name, one.resources ?? {}]));
  const result: Resources[] = [];
  for (const { name } of containers) {
    const resources = byName.get(name);
    if (resources === undefined) return undefined;
    result.push(resources);
  }
  return result;
}

/**
 * What the pod may have been made with: what it has; the same without requests that the API server filled in from limits; and
 * only what the template names, where admission added more.
 */
function candidates(spec: PodSpec, live: readonly Resources[]): Resources[][] {
  const each = (isKept: (wanted: Resources, has: Resources, list: List, name: string) => boolean) =>
    spec.containers.map(({ resources: wanted = {} }, at) => {
      const has = live[at] ?? {};
      const result: Resources = { ...wanted };
      for (const list of resourceLists) {
        const amounts: Record<string, string | number> = { ...wanted[list] };
        for (const name of resizedResources) {
          delete amounts[name];
          const amount = has[list]?.[name];
          if (amount !== undefined && isKept(wanted, has, list, name)) amounts[name] = amount;
        }
        result[list] = amounts;
      }
      return result;
    });
  return [
    each(() => true),
    each(
      (wanted, has, list, name) =>
        list === "limits" ||
        wanted.requests?.[name] !== undefined ||
        String(has.requests?.[name]) !== String(has.limits?.[name]),
    ),
    each((wanted, _, list, name) => wanted[list]?.[name] !== undefined),
  ];
}

function hashWith(spec: PodSpec, resources: readonly Resources[]): string {
  const containers = spec.containers.map((one, at) => ({ ...one, resources: resources[at] }));
  return podSpecHash({ ...spec, containers });
}

/** As the API server has it: a limit without a request is the request, too. */
export function effectiveResources({
  resources,
}: Container): Required<ContainerResize["resources"]> {
  const { requests = {}, limits = {} } = resources ?? {};
  const pick = (amounts: Amounts): Record<string, string | number> => {
    const entries = resizedResources.flatMap((name) => {
      const amount = amounts[name];
      return amount === undefined ? [] : [[name, amount] as const];
    });
    return Object.fromEntries(entries);
  };
  return { requests: { ...pick(limits), ...pick(requests) }, limits: pick(limits) };
}

function lackingOf(container: Container, has: Resources): ContainerResize[] {
  const wanted = effectiveResources(container);
  const resources: { requests?: Record<string, string>; limits?: Record<string, string> } = {};
  for (const list of resourceLists) {
    for (const [name, amount] of Object.entries(wanted[list])) {
      const given = has[list]?.[name];
      if (given !== undefined && compareQuantities(given, amount) === 0) continue;
      resources[list] = { ...resources[list], [name]: String(amount) };
    }
  }
  const isSame = resources.requests === undefined && resources.limits === undefined;
  return isSame ? [] : [{ name: container.name, resources }];
}

/** What a running container would not notice, or only by starting again. */
function obstacleTo(spec: PodSpec, lacking: readonly ContainerResize[]): string | undefined {
  for (const { name, resources } of lacking) {
    const changed = new Set(resourceLists.flatMap((list) => Object.keys(resources[list] ?? {})));
    const { resizePolicy = [] } = spec.containers.find((one) => one.name === name) ?? {};
    const restart = resizePolicy.find(
      (policy) => policy.restartPolicy === "RestartContainer" && changed.has(policy.resourceName),
    );
    if (restart !== undefined) {
      return `container ${name} starts again for other ${restart.resourceName} (resizePolicy)`;
    }
    for (const { name: reader, env = [] } of spec.containers) {
      for (const { name: variable, valueFrom } of env) {
        const { containerName = reader, resource = "" } = valueFrom?.resourceFieldRef ?? {};
        const [list = "", key = ""] = resource.split(".");
        const isRead =
          list === "requests" || list === "limits" ? resources[list]?.[key] : undefined;
        if (containerName !== name || isRead === undefined) continue;
        return `container ${reader} takes ${resource} into its variable ${variable} when it starts`;
      }
    }
  }
  return undefined;
}

function removalIn(spec: PodSpec, had: readonly Resources[]): string | undefined {
  for (const [at, container] of spec.containers.entries()) {
    const wanted = effectiveResources(container);
    for (const list of resourceLists) {
      for (const name of resizedResources) {
        if (had[at]?.[list]?.[name] === undefined || wanted[list][name] !== undefined) continue;
        return `${list}.${name} of container ${container.name} is taken away`;
      }
    }
  }
  return undefined;
}
