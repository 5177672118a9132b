// Hashes and generated texts after the replacement of secrets. The operator compares what pods carry with what it computes
// from the resource: what agreed before must agree again over the placeholders, or the copy would make every pod anew; and
// what did not agree must not begin to. Rule PIC14.
import { createHash } from "node:crypto";
import type { FoundationDBCluster, ProcessGroupStatus } from "../api/cluster.ts";
import { configMapName } from "../build/config-map.ts";
import { annotationKeys } from "../build/labels.ts";
import { monitorConfiguration, monitorJson } from "../build/monitor-configuration.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { podNameOf, volumeClaimNameOf } from "../model/process-group-id.ts";
import { isPacked } from "../model/process-group.ts";
import { desiredFor, PlanMemory } from "../plan/view/plan-memory.ts";
import type { Desired } from "../plan/view/desired.ts";
import { shapeOfPod } from "../plan/view/pod-shape.ts";

/** A resource in its own words, and what follows from it; while a version changes, for both versions. */
interface Side {
  readonly cluster: FoundationDBCluster;
  readonly desired: readonly Desired[];
}

export function desiredOf(cluster: FoundationDBCluster): Desired[] {
  const { version } = cluster.spec;
  const versions = new Set([version, cluster.status?.runningVersion ?? version]);
  return [...versions].flatMap((running) =>
    [...versions].map((wanted) => {
      const seen = { ...cluster, spec: { ...cluster.spec, version: wanted } };
      return desiredFor(new PlanMemory(), seen, cluster.status ?? {}, running);
    }),
  );
}

/** The objects of `after` with hashes that stand to its cluster as those of `before` to the other one. */
export function withHashes(
  before: { cluster: FoundationDBCluster; objects: readonly KubeObject[] },
  after: { cluster: FoundationDBCluster; objects: readonly KubeObject[] },
): KubeObject[] {
  const sides = {
    before: { cluster: before.cluster, desired: desiredOf(before.cluster) },
    after: { cluster: after.cluster, desired: desiredOf(after.cluster) },
  };
  const groups = groupsByName(sides.before);
  return after.objects.map((object, index) => {
    const original = before.objects[index];
    if (original === undefined) return object;
    const name = object.metadata.name ?? "";
    const group = groups.get(`${object.kind}/${name}`);
    if (object.kind === "Pod" && group !== undefined) {
      return podWithHashes(sides, group, original, object);
    }
    if (object.kind === "PersistentVolumeClaim" && group !== undefined) {
      return claimWithHash(sides, group, original, object);
    }
    if (object.kind === "ConfigMap" && name === configMapName(after.cluster.metadata.name ?? "")) {
      return configMapAgain(sides, original, object);
    }
    return object;
  });
}

type Claim = Stored<PersistentVolumeClaim>;
interface Sides {
  readonly before: Side;
  readonly after: Side;
}

function groupsByName({ cluster }: Side): Map<string, ProcessGroupStatus> {
  const result = new Map<string, ProcessGroupStatus>();
  for (const group of cluster.status?.processGroups ?? []) {
    const pod = podNameOf(cluster.metadata.name ?? "", group.processClass, group.processGroupID);
    result.set(`Pod/${pod}`, group);
    result.set(`PersistentVolumeClaim/${volumeClaimNameOf(pod)}`, group);
  }
  return result;
}

/**
 * A value that one of the desired states gave before becomes what the same one gives after. Another one stays when the
 * replacement changed nothing; otherwise it is hidden, since it may be computed from a secret.
 */
function again(
  { before, after }: Sides,
  value: string | undefined,
  valueOf: (desired: Desired, side: "before" | "after") => string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  const olds = before.desired.map((desired) => valueOf(desired, "before"));
  const news = after.desired.map((desired) => valueOf(desired, "after"));
  const index = olds.indexOf(value);
  if (index >= 0) return news[index];
  const isUnchanged = olds.every((old, at) => old === news[at]);
  return isUnchanged ? value : createHash("sha256").update(`other ${value}`).digest("hex");
}

function podWithHashes(
  sides: Sides,
  group: ProcessGroupStatus,
  original: Stored<Pod>,
  pod: Stored<Pod>,
): Stored<Pod> {
  const { annotations } = original.metadata;
  const live = { before: original, after: pod };
  const spec = again(
    sides,
    annotations?.[annotationKeys.lastAppliedSpec],
    (desired) => desired.pod(group)?.specHash,
  );
  const [target, since] = annotations?.[annotationKeys.resizeTarget]?.split(" ") ?? [];
  const resized = again(sides, target, (desired) => desired.pod(group)?.specHash);
  const configuration = again(
    sides,
    annotations?.[annotationKeys.lastAppliedConfigMap],
    (desired, side) => desired.configHash(group, live[side]),
  );
  const launcher = launcherText(sides, group, original, pod);
  return annotated(pod, {
    [annotationKeys.lastAppliedSpec]: spec,
    [annotationKeys.resizeTarget]: resized && `${resized} ${since}`,
    [annotationKeys.lastAppliedConfigMap]: configuration,
    [annotationKeys.launcherConfiguration]: launcher,
  });
}

/** What the monitor of a pod says to run with, where that is what it should run with. */
function launcherText(
  { before, after }: Sides,
  group: ProcessGroupStatus,
  original: Stored<Pod>,
  pod: Stored<Pod>,
): string | undefined {
  const text = original.metadata.annotations?.[annotationKeys.launcherConfiguration];
  if (text === undefined) return undefined;
  const index = before.desired.findIndex((desired) =>
    desired.isCurrentConfiguration(group, original, text),
  );
  const desired = after.desired[index];
  if (desired === undefined)
    return pod.metadata.annotations?.[annotationKeys.launcherConfiguration];
  const { imageType, servers, ipFamily } = shapeOfPod(desired, pod);
  const configured = {
    ...desired.cluster,
    spec: { ...desired.cluster.spec, version: desired.configuredVersion },
  };
  const { processClass } = group;
  return monitorJson(
    monitorConfiguration(configured, {
      ...{ processClass, imageType, serverCount: servers, ipFamily, isPacked: isPacked(group) },
    }),
  );
}

function claimWithHash(
  sides: Sides,
  group: ProcessGroupStatus,
  original: Claim,
  claim: Claim,
): Claim {
  const hash = original.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  return annotated(claim, {
    [annotationKeys.lastAppliedSpec]: again(sides, hash, (desired) => desired.pvc(group)?.specHash),
  });
}

/** Entries that are as the operator writes them are written as it would write them over the placeholders. */
function configMapAgain(
  { before, after }: Sides,
  original: Stored<ConfigMap>,
  object: Stored<ConfigMap>,
): Stored<ConfigMap> {
  const entries = Object.entries(object.data ?? {}).map(([key, replaced]) => {
    const index = before.desired.findIndex(
      ({ configMap }) => configMap.data?.[key] === original.data?.[key],
    );
    return [key, after.desired[index]?.configMap.data?.[key] ?? replaced];
  });
  return { ...object, data: Object.fromEntries(entries) as Record<string, string> };
}

function annotated<T extends KubeObject>(
  object: T,
  values: Readonly<Record<string, string | undefined>>,
): T {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  if (present.length === 0) return object;
  const annotations = { ...object.metadata.annotations, ...Object.fromEntries(present) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
