// Step checkClientCompatibility: a change of version that is not possible, or that clients could not follow, waits and
// says why. Only the upgrade waits: pods, volumes and everything else are looked after meanwhile.
// Rules: spec/upgrade.md [U1]-[U6], [U10]-[U14], [U31].
import { isSilent, overtakenVersion } from "./overtaken-upgrade.ts";
import type { Snapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { Draft, StepResult } from "./step.ts";
import { describeClient } from "./unsupported-clients.ts";
import type { UnsupportedClient } from "./unsupported-clients.ts";
import { isJump, upgradeVerdict } from "./upgrade-verdict.ts";
import type { NewWait } from "./wait.ts";
import { nameList } from "./wait.ts";

const step = "checkClientCompatibility";

export function planClientCheck(snapshot: Snapshot, draft: Draft): StepResult {
  const wanted = snapshot.cluster.spec.version;
  const running = draft.status.runningVersion ?? wanted;
  const verdict = upgradeVerdict(snapshot, running);
  if (verdict.kind === "refused") return { waits: [refusedWait(running, wanted)] };
  if (!isJump(verdict)) return nothing;
  if (isSilent(snapshot)) {
    // The new version first: a client of the old one takes its time to find out that nobody answers it.
    const overtaken = overtakenVersion(snapshot, running);
    const versions = [...(overtaken === undefined ? [] : [overtaken]), wanted, running];
    return { questions: [{ type: "reachableVersion", versions }] };
  }
  if (verdict.kind === "unknown") return { waits: [unknownWait] };
  if (verdict.kind !== "held") return nothing;
  const wait = clientsWait(verdict.clients, wanted);
  const event = { type: "Warning" as const, reason: "UnsupportedClient", message: wait.message };
  return { waits: [wait], events: [event] };
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
    remedy:
      "Give these clients a library of the new version, or name their log groups in " +
      "automationOptions.ignoreLogGroupsForUpgrade, or set spec.ignoreUpgradabilityChecks.",
    retryAfterMs: 60_000,
    isForDatabase: true,
  };
}
