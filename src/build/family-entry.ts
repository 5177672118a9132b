// Entries of the ConfigMap for unified pods that have another IP family than the spec gives pods by now: such a pod takes no
// configuration that picks addresses of the spec's family. Carries rule B79 of spec/build.md.
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { configMap } from "./config-map.ts";
import { annotationKeys } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import { podSpecHash } from "./spec-hash.ts";

/** Where a unified monitor finds its configuration. */
const monitorFile = "config.json";
const unifiedEntry = /^fdbmonitor-conf-.*-json/;
const familyEntry = /-ipv([46])$/;

/** All entries for unified pods of these families. */
export function familyEntries(
  cluster: NormalCluster,
  families: Iterable<4 | 6>,
): Record<string, string> {
  const data: Record<string, string> = {};
  for (const podIPFamily of families) {
    const routing = { ...cluster.spec.routing, podIPFamily };
    const all = configMap({ ...cluster, spec: { ...cluster.spec, routing } }).data ?? {};
    for (const [key, text] of Object.entries(all)) {
      if (unifiedEntry.test(key)) data[`${key}-ipv${podIPFamily}`] = text;
    }
  }
  return data;
}

/** A unified pod reads the entry of its own family, and its hash says so; a split one reads what all of its kind read. */
export function withFamilyEntry(pod: Stored<Pod>, family: 4 | 6): Stored<Pod> {
  if (pod.spec === undefined) return pod;
  const volumes = (pod.spec.volumes ?? []).map((volume) => {
    const { configMap: source } = volume;
    const items = (source?.items ?? []).map((item) =>
      item.path === monitorFile && unifiedEntry.test(item.key)
        ? { ...item, key: `${item.key}-ipv${family}` }
        : item,
    );
    return source === undefined ? volume : { ...volume, configMap: { ...source, items } };
  });
  const spec = { ...pod.spec, volumes };
  if (familyEntryOf({ spec }) === undefined) return pod;
  const annotations = {
    ...pod.metadata.annotations,
    [annotationKeys.lastAppliedSpec]: podSpecHash(spec),
  };
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec };
}

/** Whose entry a live pod reads; undefined for that of the spec. */
export function familyEntryOf({ spec }: Pick<Stored<Pod>, "spec">): 4 | 6 | undefined {
  for (const { configMap: source } of spec?.volumes ?? []) {
    const key = source?.items?.find(({ path }) => path === monitorFile)?.key ?? "";
    const [, family] = familyEntry.exec(key) ?? [];
    if (unifiedEntry.test(key) && family !== undefined) return family === "4" ? 4 : 6;
  }
  return undefined;
}
