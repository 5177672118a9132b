// The page about a restore: whether it runs, how far it is, what the destination holds, what waits for what, and what a person
// can do. From Kubernetes objects alone. Rules: spec/restore.md [RS90].
import { conditionIn } from "../../kube/condition.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { agentLabel } from "../../build/backup-deployment.ts";
import { restoreDeploymentName } from "../../build/restore-agents.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Event, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";
import { conditionFact, firstVerdict, knownFigures } from "./facts.ts";
import { objectTroubles, recentEvents } from "./objects.ts";
import { explainedWaits } from "./page.ts";
import type { ExplainedFact, ExplainedWait, ExplainPage, Verdict } from "./page.ts";
import { readNamed } from "../read-named.ts";
import type { ClusterKey } from "../read-named.ts";
import { readSurroundings } from "./read.ts";
import type { TextPage } from "./text.ts";
import { asSentence } from "./words.ts";

export interface RestoreInput {
  restore: Stored<FoundationDBRestore>;
  /** Of its own agents. Lists that could not be read are undefined and named in `unread`. */
  pods: readonly Stored<Pod>[] | undefined;
  events: readonly Stored<Event>[] | undefined;
  unread: readonly string[];
}

export interface RestorePage extends Pick<
  ExplainPage,
  "asOf" | "headline" | "namespace" | "objects" | "recent" | "unread" | "verdict" | "waits"
> {
  restore: string;
  destination: string;
  running: ExplainedFact;
  completed: ExplainedFact;
  /** What the status shows, each as one line. */
  figures: Readonly<Record<string, string>>;
}

export function explainRestore(input: RestoreInput, nowMs: number): RestorePage {
  const { restore } = input;
  const { metadata, spec } = restore;
  const waits = explainedWaits(restore, nowMs);
  const verdict = verdictOf(restore, waits);
  return {
    restore: metadata.name ?? "",
    namespace: metadata.namespace ?? "",
    destination: spec.destinationClusterName,
    asOf: formatTime(nowMs),
    verdict,
    headline: headlineOf(restore, verdict, waits),
    running: conditionFact(restore, "Running"),
    completed: conditionFact(restore, "Completed"),
    figures: figuresOf(restore),
    waits,
    objects: objectTroubles({ pods: input.pods, pvcs: [], nodes: undefined, events: input.events }),
    recent: recentEvents(restore, input.events, nowMs),
    unread: input.unread,
  };
}

function verdictOf(restore: FoundationDBRestore, waits: readonly ExplainedWait[]): Verdict {
  const first = firstVerdict(restore, waits);
  if (first !== undefined) return first;
  const { status } = restore;
  if (status?.state === "aborted") return "stuck";
  if (waits.some(({ concern }) => concern === "look")) return "degraded";
  return status?.endTime !== undefined || status?.state === "completed" ? "healthy" : "working";
}

function headlineOf(
  restore: FoundationDBRestore,
  verdict: Verdict,
  waits: readonly ExplainedWait[],
): string {
  const { status } = restore;
  const end = conditionIn(status, "Completed");
  switch (verdict) {
    case "deleting":
      return "The restore is being deleted.";
    case "unseen":
      return "No operator has looked at this restore yet.";
    case "invalid":
      return "The spec of the restore cannot be right, so nothing is done for it.";
    case "healthy":
      return asSentence(end?.message ?? "The restore is complete");
    case "working":
      return status?.running === true ? "The restore runs." : "The restore is being prepared.";
    default: {
      if (status?.state === "aborted") return asSentence(end?.message ?? "The restore was aborted");
      const worst = waits.find(({ concern }) => concern !== "passing") ?? waits[0];
      const needs = verdict === "stuck" ? "needs you" : "needs a look";
      return `The restore ${needs}: ${asSentence(worst?.message ?? "")}`;
    }
  }
}

function figuresOf({ status }: FoundationDBRestore): Record<string, string> {
  const { state, url, target, window, progress, startTime, endTime } = status ?? {};
  const early = target?.earlierBySeconds ?? 0;
  const all: Readonly<Record<string, string | undefined>> = {
    State: state,
    From: url,
    Point:
      target &&
      `version ${target.version ?? 0}${target.time === undefined ? "" : `, asked for as ${target.time}, at most ${early} s earlier`}`,
    Window: window && `versions ${window.from ?? 0} to ${window.to ?? 0}`,
    Progress:
      progress &&
      `${progress.percent ?? 0} percent, ${progress.bytes ?? 0} bytes written${progress.versionsLeft === undefined ? "" : `, ${progress.versionsLeft} versions of the log left`}`,
    Expected: progress?.eta,
    Began: startTime,
    Ended: endTime,
  };
  return knownFigures(all);
}

export function restoreText(page: RestorePage): TextPage {
  const isSeen = page.verdict !== "unseen";
  return {
    ...page,
    title: `${page.namespace}/${page.restore}`,
    subtitle: `restore into ${page.destination}`,
    stale: [],
    facts: isSeen
      ? [
          ["Runs", page.running],
          ["Complete", page.completed],
        ]
      : [],
    rows: isSeen ? Object.entries(page.figures) : [],
  };
}

/** Only the restore itself is needed: what else may not be read is left out and named. */
export async function readRestoreInput(
  client: KubeClient,
  key: ClusterKey,
  server: string,
): Promise<RestoreInput> {
  const restore = await readNamed(client, foundationDbRestores, key, server);
  const labelSelector = `${agentLabel}=${restoreDeploymentName(key.name)}`;
  return { restore, ...(await readSurroundings(client, key.namespace, labelSelector)) };
}
