// Step checkClientCompatibility: a change of version that is not possible, or that clients could not follow, waits and
// says why. Only the upgrade waits: pods, volumes and everything else are looked after meanwhile.
// Rules: spec/upgrade.md [U1]-[U6], [U10]-[U14], [U31], [U39].
import { versionsOfPods } from "../view/pod-binaries.ts";
import {
  isIncompatibleUpgrade,
  isSilent,
  overtakenVersions,
  upgradeVerdict,
} from "./upgrade-verdict.ts";
import { lastsFor } from "../facts.ts";
import type { DatabaseQuestion } from "../questions.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { describeClient } from "./unsupported-clients.ts";
import type { UnsupportedClient } from "./unsupported-clients.ts";
import type { UpgradeVerdict } from "./upgrade-verdict.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

const step = "checkClientCompatibility";
/** A restart in place is over long before. */
const awayMs = 15_000;
const unknownMs = 60_000;

export function checkClientCompatibility(snapshot: Snapshot, draft: Draft): StepResult {
  const wanted = snapshot.cluster.spec.version;
  const running = draft.status.runningVersion ?? wanted;
  const verdict = upgradeVerdict(snapshot, running);
  const questions = versionQuestions(snapshot, draft, running, verdict);
  if (verdict.kind === "uncertain") {
    return { questions, waits: [uncertainWait(overtakenVersions(snapshot, running))] };
  }
  if (verdict.kind === "refused") return { questions, waits: [refusedWait(running, wanted)] };
  if (questions.length > 0) return { questions };
  if (verdict.kind === "unknown") return { waits: [unknownWait] };
  if (verdict.kind !== "held") return nothing;
  const wait = clientsWait(verdict.clients, wanted);
  const event = { type: "Warning" as const, reason: "UnsupportedClient", message: wait.message };
  return { waits: [wait], events: [event] };
}

/** Which version runs is asked for when a restart may have changed it, and when the database is away for long. */
function versionQuestions(
  snapshot: Snapshot,
  draft: Draft,
  running: string,
  verdict: UpgradeVerdict,
): readonly DatabaseQuestion[] {
  const isChanging = verdict.kind === "uncertain" || isIncompatibleUpgrade(verdict);
  const isAsked = isChanging ? isSilent(snapshot) : isAwayForLong(snapshot, draft);
  if (!isAsked) return [];
  // The new version first: a client of the old one takes its time to find out that nobody answers it.
  const { version: wanted } = snapshot.cluster.spec;
  const known = [...overtakenVersions(snapshot, running), wanted, running];
  // After a lost status the images of the pods are all that tells of another one.
  const versions = [...known, ...versionsOfPods(snapshot)];
  return [{ type: "reachableVersion", versions: [...new Set(versions)] }];
}

/** Where the status is lost, nobody knows that there is a database: it is waited for as for a new one, only longer. */
function isAwayForLong(snapshot: Snapshot, { status, facts }: Draft): boolean {
  const isKnown = status.configured === true;
  return lastsFor(facts.databaseSilent, isKnown ? awayMs : unknownMs, snapshot.nowMs);
}

function uncertainWait(versions: readonly string[]): NewWait {
  return {
    step,
    reason: "StatusOutdated",
    message: `All processes may have restarted with version ${nameList(versions)}: which version runs is being found out`,
    remedy: "Nothing: it takes seconds.",
    retryAfterMs: 1_000,
    isForDatabase: true,
  };
}

function refusedWait(running: string, wanted: string): NewWait {
  return {
    step,
    reason: "VersionChangeRefused",
    message: `Version ${running} cannot be changed to ${wanted}: its data is not readable by an older line`,
    remedy: `Set spec.version back to ${running}, or to another patch of the same line, or to a newer one.`,
    retryAfterMs: 600_000,
  };
}

const unknownWait: NewWait = {
  step,
  reason: "StatusIncomplete",
  message:
    "The database does not tell who its clients are, so it is not known whether they could follow",
  remedy: "Nothing, when it passes by itself; otherwise look at `fdbcli --exec 'status details'`.",
  retryAfterMs: 5_000,
  isForDatabase: true,
};

function clientsWait(clients: readonly UnsupportedClient[], wanted: string): NewWait {
  const names = nameList(clients.map(describeClient));
  return {
    step,
    reason: "ClientsIncompatible",
    message: `Clients could not talk to version ${wanted}: ${names}`,
    retryAfterMs: 60_000,
    isForDatabase: true,
  };
}
