// `kubectl fdb analyze`: what is wrong with clusters, and with --auto-fix the removal of what has failed.
// Rules: spec/plugin.md [PL66], [PL67].
import { styleText } from "node:util";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { CommandError, UsageError } from "../env/command-error.ts";
import type { Stored } from "../kube/resource.ts";
import { analyse } from "./analysis.ts";
import type { Analysis, Finding } from "./analysis.ts";
import type { OutputForm, WriteFlags } from "./flags.ts";
import { askStatus } from "./pod-commands.ts";
import { print } from "./print.ts";
import { podsOf, readCluster } from "./read-selection.ts";
import { removeGroups } from "./remove.ts";
import type { Session } from "./session.ts";

export interface AnalyzeFlags extends WriteFlags {
  output: OutputForm;
  allClusters?: boolean;
  autoFix?: boolean;
  analyzeStatus?: boolean;
  color: boolean;
  ignoreCondition?: string[];
  ignoreRemovals: boolean;
}

export async function runAnalyze(
  session: Session,
  flags: AnalyzeFlags,
  names: readonly string[],
): Promise<void> {
  if (names.length > 0 === (flags.allClusters === true)) {
    throw new UsageError("name the clusters, or give --all-clusters");
  }
  const found: ({ cluster: string } & Analysis)[] = [];
  for (const cluster of await clustersOf(session, names)) {
    found.push({
      cluster: cluster.metadata.name ?? "",
      ...(await analysisOf(session, cluster, flags)),
    });
  }
  print(session, flags.output, found, () =>
    found.map(({ cluster, findings }) => pageOf(session, cluster, findings, flags.color)).join(""),
  );
  const bad = found.filter(({ findings }) => findings.some(({ level }) => level === "error"));
  if (flags.autoFix === true) {
    for (const { cluster, replaceable } of bad) {
      if (replaceable.length === 0) continue;
      await removeGroups(session, cluster, replaceable, { ...flags, exclusion: true });
    }
  }
  if (bad.length === 0) return;
  const which = bad.map(({ cluster }) => cluster).join(", ");
  throw new CommandError(`found issues for cluster ${which}. Please check them`);
}

async function clustersOf(
  session: Session,
  names: readonly string[],
): Promise<Stored<FoundationDBCluster>[]> {
  const { client, namespace } = session;
  if (names.length === 0) return (await client.listAll(foundationDbClusters, { namespace })).items;
  const clusters: Stored<FoundationDBCluster>[] = [];
  for (const name of [...new Set(names)].toSorted())
    clusters.push(await readCluster(session, name));
  return clusters;
}

async function analysisOf(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
  flags: AnalyzeFlags,
): Promise<Analysis> {
  const pods = await podsOf(session, cluster);
  const analysis = analyse(cluster, pods, {
    ignoreConditions: flags.ignoreCondition ?? [],
    ignoreRemovals: flags.ignoreRemovals,
    nowMs: session.serverNowMs(),
  });
  if (flags.analyzeStatus !== true) return analysis;
  const asked = await askStatus(session, cluster);
  const more: Finding[] =
    typeof asked === "string"
      ? [{ level: "error", text: `The database cannot be asked: ${asked}` }]
      : Object.values(asked.status.cluster?.processes ?? {}).flatMap(({ address, messages = [] }) =>
          messages.map(({ name, description }) => ({
            level: "error" as const,
            text: `Process ${address ?? "?"}: ${name}: ${description ?? ""}`,
          })),
        );
  return { ...analysis, findings: [...analysis.findings, ...more] };
}

const marks = { good: "✔", warning: "⚠", error: "✖" } as const;
const colours = { good: "green", warning: "yellow", error: "red" } as const;

function pageOf(
  { out, namespace }: Session,
  cluster: string,
  findings: readonly Finding[],
  color: boolean,
): string {
  const lines = findings.map(({ level, text }) => {
    const line = `${marks[level]} ${text}`;
    if (!out.hasColor || !color) return line;
    return styleText(colours[level], line, { validateStream: false });
  });
  return `${[`Cluster ${namespace}/${cluster}`, ...lines].join("\n")}\n`;
}
