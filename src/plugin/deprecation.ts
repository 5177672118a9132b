// `kubectl fdb deprecation`: fields of a spec that are deprecated, and the same spec without them. Changes nothing.
// Rules: spec/plugin.md [PL80], [PL81].
import { foundationDbClusters } from "../api/cluster.ts";
import type { ClusterSpec } from "../api/cluster.ts";
import { CommandError } from "../env/command-error.ts";
import { differenceOf, yamlOf } from "./difference.ts";
import type { OutputForm } from "./flags.ts";
import { print } from "./print.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export interface DeprecationFlags {
  output: OutputForm;
  useFutureDefaults?: boolean;
  onlyShowChanges: boolean;
  showClusterSpec?: boolean;
}

/** The spec that says the same without deprecated fields; the same object when it has none. */
export function modernSpec(spec: ClusterSpec, useFutureDefaults: boolean): ClusterSpec {
  let next = spec;
  const { crashLoop = [], ...buggify } = spec.buggify ?? {};
  if (crashLoop.length > 0) {
    const known = buggify.crashLoopContainers ?? [];
    const own = known.find(({ containerName }) => containerName === "foundationdb");
    const targets = [...new Set([...(own?.targets ?? []), ...crashLoop])].toSorted();
    const others = known.filter((each) => each !== own);
    const crashLoopContainers = [...others, { containerName: "foundationdb", targets }];
    next = { ...next, buggify: { ...buggify, crashLoopContainers } };
  }
  const options = spec.automationOptions ?? {};
  const { synronizationMode, useManagementAPI, ...automation } = options;
  if (synronizationMode !== undefined || useManagementAPI !== undefined) {
    const synchronizationMode = automation.synchronizationMode ?? synronizationMode;
    const more = synchronizationMode === undefined ? {} : { synchronizationMode };
    next = { ...next, automationOptions: { ...automation, ...more } };
  }
  if (useFutureDefaults && spec.imageType === "split") next = { ...next, imageType: "unified" };
  return next;
}

export async function runDeprecation(
  session: Session,
  flags: DeprecationFlags,
  names: readonly string[],
): Promise<void> {
  const { client, namespace } = session;
  const clusters =
    names.length === 0
      ? (await client.listAll(foundationDbClusters, { namespace })).items
      : await Promise.all(names.map((name) => readCluster(session, name)));
  const found = clusters.map(({ metadata, spec }) => {
    const wanted = modernSpec(spec, flags.useFutureDefaults === true);
    const changes = differenceOf(yamlOf(spec), yamlOf(wanted));
    return { cluster: metadata.name ?? "", spec: wanted, changes };
  });
  const outdated = found.filter(({ changes }) => changes.length > 0);
  print(session, flags.output, found, () =>
    (flags.onlyShowChanges ? outdated : found)
      .flatMap(({ cluster, spec, changes }) => [
        `${namespace}/${cluster}${changes.length === 0 ? ": nothing is deprecated" : ""}`,
        ...(flags.showClusterSpec === true ? [yamlOf(spec).trimEnd()] : changes),
      ])
      .map((line) => `${line}\n`)
      .join(""),
  );
  if (outdated.length > 0) {
    throw new CommandError(`${outdated.length}/${found.length} cluster(s) with deprecations`);
  }
}
