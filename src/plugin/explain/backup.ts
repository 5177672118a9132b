// The page about a backup: whether it runs, what can be restored and how far that is behind, what waits for what, and what a
// person can do. From Kubernetes objects alone. Rules: spec/backup.md [BK110].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { isContinuous } from "../../api/effective-backup.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Event, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime, parseTime } from "../../kube/time.ts";
import { agentDeploymentName, agentLabel } from "../../build/backup-deployment.ts";
import { conditionFact, firstVerdict, knownFigures } from "./facts.ts";
import { objectTroubles, recentEvents } from "./objects.ts";
import { explainedWaits } from "./page.ts";
import type { ExplainedFact, ExplainedWait, ExplainPage, Verdict } from "./page.ts";
import { readNamed } from "../read-named.ts";
import type { ClusterKey } from "../read-named.ts";
import { readSurroundings } from "./read.ts";
import type { TextPage } from "./text.ts";
import { asSentence, formatAge } from "./words.ts";

export interface BackupInput {
  backup: Stored<FoundationDBBackup>;
  /** Of the agents. Lists that could not be read are undefined and named in `unread`. */
  pods: readonly Stored<Pod>[] | undefined;
  events: readonly Stored<Event>[] | undefined;
  unread: readonly string[];
}

export interface BackupPage extends Pick<
  ExplainPage,
  "asOf" | "headline" | "namespace" | "objects" | "recent" | "unread" | "verdict" | "waits"
> {
  backup: string;
  cluster: string;
  running: ExplainedFact;
  restorable: ExplainedFact;
  upToDate: ExplainedFact;
  reconciled: ExplainedFact;
  /** Where there are drills. */
  verified: ExplainedFact | undefined;
  /** What the status shows, each as one line. */
  figures: Readonly<Record<string, string>>;
}

export function explainBackup(input: BackupInput, nowMs: number): BackupPage {
  const { backup } = input;
  const { metadata, spec } = backup;
  const waits = explainedWaits(backup, nowMs);
  const facts = {
    running: conditionFact(backup, "Running"),
    restorable: conditionFact(backup, "Restorable"),
    upToDate: negated(conditionFact(backup, "Behind")),
    reconciled: conditionFact(backup, "Reconciled"),
    verified: spec.verification === undefined ? undefined : conditionFact(backup, "Verified"),
  };
  const verdict = verdictOf(backup, facts, waits);
  return {
    backup: metadata.name ?? "",
    namespace: metadata.namespace ?? "",
    cluster: spec.clusterName,
    asOf: formatTime(nowMs),
    verdict,
    headline: verdict === "healthy" ? restOf(backup, facts) : headlineOf(verdict, facts, waits),
    ...facts,
    figures: figuresOf(backup, nowMs),
    waits,
    objects: objectTroubles({ pods: input.pods, pvcs: [], nodes: undefined, events: input.events }),
    recent: recentEvents(backup, input.events, nowMs),
    unread: input.unread,
  };
}

function negated({ answer, ...rest }: ExplainedFact): ExplainedFact {
  return { answer: answer === "yes" ? "no" : answer === "no" ? "yes" : "unknown", ...rest };
}

type Facts = Pick<BackupPage, "running" | "restorable" | "upToDate" | "reconciled" | "verified">;

function verdictOf(
  backup: FoundationDBBackup,
  { restorable, upToDate, reconciled, verified }: Facts,
  waits: readonly ExplainedWait[],
): Verdict {
  const first = firstVerdict(backup, waits);
  if (first !== undefined) return first;
  if (upToDate.answer === "no" || verified?.answer === "no") return "degraded";
  if (waits.some(({ concern }) => concern === "look")) return "degraded";
  if (reconciled.answer !== "yes") return restorable.answer === "yes" ? "working" : "starting";
  return "healthy";
}

const headlines: Readonly<Partial<Record<Verdict, string>>> = {
  deleting: "The backup is being deleted.",
  unseen: "No operator has looked at this backup yet.",
  invalid: "The spec of the backup cannot be right, so nothing is done for it.",
  starting: "The backup is being brought about.",
  working: "The backup can be restored, and a change is being made.",
};

/** A backup that is as specified need not be one that follows the database. */
function restOf({ spec, status }: FoundationDBBackup, { running, restorable }: Facts): string {
  const data = restorable.answer === "yes" ? "It can be restored" : "It cannot be restored";
  if (status?.state === "Asleep") return `${running.text}. ${data}.`;
  if (spec.backupState === "Stopped") return `The backup is stopped, as the spec says. ${data}.`;
  if (spec.backupState === "Paused") {
    return `The backup is paused, as the spec says, and falls behind. ${data}.`;
  }
  const isDone = !isContinuous(spec) && spec.schedule === undefined && running.answer === "no";
  if (isDone) return `The one-time backup has ended. ${data}.`;
  return "The backup is as it should be.";
}

function headlineOf(
  verdict: Verdict,
  { upToDate, verified }: Facts,
  waits: readonly ExplainedWait[],
): string {
  const known = headlines[verdict];
  if (known !== undefined) return known;
  const worst = waits.find(({ concern }) => concern !== "passing") ?? waits[0];
  if (verdict === "stuck") return `The backup needs you: ${asSentence(worst?.message ?? "")}`;
  if (upToDate.answer !== "no" && verified?.answer === "no") {
    return "Whether the backup would work is in doubt: its last drill failed, or none could be made.";
  }
  if (worst === undefined) return "The backup is behind.";
  return `The backup needs a look: ${asSentence(worst.message)}`;
}

function figuresOf({ spec, status }: FoundationDBBackup, nowMs: number): Record<string, string> {
  const { state, backupDetails, restorable, lag, bytes, snapshot, expiry, agentCount } =
    status ?? {};
  const { schedule, runs, verification, drill, lastVerification } = status ?? {};
  const run = runs?.at(-1);
  const ago = (time: string | undefined): string => {
    const atMs = parseTime(time);
    return atMs === undefined ? "" : ` (${formatAge(nowMs - atMs)} ago)`;
  };
  const point = (of: { version?: number; time?: string } | undefined): string =>
    of === undefined ? "" : `version ${of.version ?? 0}${ago(of.time)}`;
  const all: Readonly<Record<string, string | undefined>> = {
    State: state,
    "Goes to": backupDetails?.url,
    Agents: agentCount === undefined ? undefined : `${agentCount} of ${spec.agentCount ?? 2}`,
    Window: restorable && `${point(restorable.from)} to ${point(restorable.to)}`,
    Behind: lag && `${lag} when the status was last written, which is every ten minutes`,
    Written: bytes && `${bytes.total ?? 0} bytes since the start`,
    Snapshot: snapshot && `${snapshot.progress ?? 0} percent of its period has passed`,
    Expired:
      expiry?.before === undefined
        ? undefined
        : `before version ${expiry.before}${ago(expiry.time)}`,
    "Last run":
      run && `${run.time} ${run.result}${run.message === undefined ? "" : `: ${run.message}`}`,
    "Next run": spec.schedule && schedule?.next,
    Drill: drill && `${drill.phase} with the cluster ${drill.name}`,
    "Last drill":
      lastVerification &&
      `${lastVerification.time} ${lastVerification.result}: ${lastVerification.message ?? ""}`,
    "Last good": lastVerification?.lastPassed && ago(lastVerification.lastPassed).slice(2, -1),
    "Next drill": verification?.next,
  };
  return knownFigures(all);
}

export function backupText(page: BackupPage): TextPage {
  const isSeen = page.verdict !== "unseen";
  return {
    ...page,
    title: `${page.namespace}/${page.backup}`,
    subtitle: `backup of ${page.cluster}`,
    stale: [],
    facts: isSeen
      ? [
          ["Runs", page.running],
          ["Restorable", page.restorable],
          ["Up to date", page.upToDate],
          ["As specified", page.reconciled],
          ...(page.verified === undefined ? [] : [["Verified", page.verified] as const]),
        ]
      : [],
    rows: isSeen ? Object.entries(page.figures) : [],
  };
}

/** Only the backup itself is needed: what else may not be read is left out and named. */
export async function readBackupInput(
  client: KubeClient,
  key: ClusterKey,
  server: string,
): Promise<BackupInput> {
  const backup = await readNamed(client, foundationDbBackups, key, server);
  const labelSelector = `${agentLabel}=${agentDeploymentName(key.name)}`;
  return { backup, ...(await readSurroundings(client, key.namespace, labelSelector)) };
}
