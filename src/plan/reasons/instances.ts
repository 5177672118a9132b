// Reasons around versions and around several instances that look after one database.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const instanceReasons = {
  ClientsIncompatible: {
    concern: "person",
    meaning:
      "The wanted version speaks another protocol than the running one, and clients of the " +
      "database have no library for it: they could not talk to the database after the upgrade. " +
      "The message names address, log group and newest library version of each. Give them a " +
      "library of the new version (a multi-version client can hold several), or, if they do not " +
      "matter, name their log groups in `automationOptions.ignoreLogGroupsForUpgrade` or set " +
      "`spec.ignoreUpgradabilityChecks`. Only the upgrade waits.",
    remedy:
      "Give these clients a library of the new version, or name their log groups in " +
      "automationOptions.ignoreLogGroupsForUpgrade, or set spec.ignoreUpgradabilityChecks.",
    page: "upgrades",
  },
  CoordinationForeign: {
    concern: "person",
    meaning:
      "The coordination sets in the database hold entries that another operator wrote, for " +
      "example the Go operator in its own global mode. Their values mean something else, so they " +
      "are not read as entries. Nothing is done together while they are there, and this operator " +
      "has no entries of its own, which the other one could not read. Set " +
      "`automationOptions.synchronizationMode` to `local` in all resources, let this operator " +
      "look after all of them, then set `global` again: each instance takes out what its " +
      "predecessor left. What nobody takes over is taken out with `kubectl fdb coordination " +
      "clear`.",
    remedy:
      "Set synchronizationMode to local in all resources, let this operator run all of them, then " +
      "set global again; what an instance that is gone has left, `kubectl fdb coordination clear` " +
      "takes out.",
    page: "coordination",
  },
  CoordinationSettling: {
    concern: "passing",
    meaning:
      "In global mode the instances of a database act as one. All process groups that were " +
      "announced are ready, and the operator waits until nothing has changed for a while (30 " +
      "seconds), in case another instance is just about to join; or it is reading what the others " +
      "have announced. It passes by itself. An upgrade between protocols says the same until the " +
      "entries with which this instance was ready for a restart are taken out of the sets.",
  },
  InstanceNotReady: {
    concern: "look",
    usualMs: 5 * minuteMs,
    meaning:
      "In global mode this instance is ready, and another one has announced process groups that " +
      "are not: the message names the instance, the process groups and since when. An exclusion " +
      "goes ahead without them after five minutes (or five times the settling time, if that is " +
      "longer); a restart and an inclusion wait for ever, since they would cost another recovery " +
      "or hurt nobody by being late. Look what holds the resource of the other instance. If it is " +
      "gone for good, take its entries away: [coordination](coordination.md) says how.",
  },
  NewerVersionStarted: {
    concern: "look",
    rank: "pod",
    meaning:
      "Processes that keep data started with the new version of an upgrade in which all change at " +
      "once, before the others did, and then the version was taken back. They take no part in the " +
      "database any more, and the version that runs may not read what they have written. Made " +
      "again, their pods would not start at all, so they stay. Set `spec.version` to the newer " +
      "version again: they are part of the database when the others have changed. Otherwise their " +
      "process groups are replaced as failed ones, where all data has other copies.",
  },
  PrefixShared: {
    concern: "person",
    meaning:
      "In global mode every resource of a database needs a `processGroupIDPrefix` of its own, by " +
      "which the instances know each other. The database shows processes that carry the prefix of " +
      "this resource and are none of its process groups: another resource uses the same one, or a " +
      "node still runs a pod that was deleted by force. Until it is mended this instance " +
      "announces nothing and does nothing together; other instances go on. Give one of the two " +
      "resources another prefix: its process groups are replaced, one after the other.",
    remedy:
      "Give each resource of the database a processGroupIDPrefix of its own: the process groups " +
      "of the one that changes are replaced.",
  },
  UpgradePending: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "Several resources share the database, and all its processes have to change their version " +
      "at once. Process groups of the other resources have not been announced as ready. Set the " +
      "same version in all of them; the message names some that are missing.",
    remedy: "Set the new version in all resources of this database, and look what holds them.",
  },
  UpgradeStaging: {
    concern: "passing",
    meaning:
      "All processes are about to change their version at once, and not everything has been " +
      "prepared: sidecars that bring the new binaries are being restarted, the new configuration " +
      "is on its way, or a process that should take part is missing at the moment. Processes that " +
      "are missing for longer than `automationOptions.ignoreMissingProcessesSeconds` are not " +
      "waited for. If it lasts, look at the sidecar containers of the named pods: their image may " +
      "not be available. Where several resources share the database, an upgrade that is taken " +
      "back says the same for about 15 seconds: the other instances are told before anything else " +
      "goes back.",
  },
  VersionChangeRefused: {
    concern: "person",
    meaning:
      "FoundationDB has no way from the running version to the wanted one: an older line does not " +
      "read the data of a newer one. Other patches of the running line and newer lines are " +
      "possible. Pods and processes are kept in order for the version that runs; set " +
      "`spec.version` back to it. This is also what happens when a version is taken back in the " +
      "very moment in which all processes restart with it.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
