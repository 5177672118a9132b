// Reasons around process groups that come, are replaced and go.
import type { Reason } from "./reason.ts";

export const processGroupReasons = {
  ExclusionPostponed: {
    concern: "passing",
    meaning:
      "Process groups are marked for removal, and excluding them has to wait. The message says " +
      "why: their successors do not report yet, the class has no process to spare, the last " +
      "recovery is too recent for an exclusion that costs another one, too few zones would be " +
      "left, or no other coordinators can be found. Look at the pods of the class named; a pod " +
      "that cannot start is usually named in a wait of its own. Where too few zones would be left " +
      "although all pods run, pods that stay share nodes: add nodes or uncordon them, and replace " +
      "one of those that share (`processGroupsToRemove`). For coordinators the operator does so " +
      "by itself, one process group after the other, where it may look at nodes and finds free " +
      "ones; the message says who is replaced.",
  },
  ExclusionRunning: {
    concern: "passing",
    meaning:
      "The database is moving data or roles away from processes that are excluded. That takes as " +
      "long as the data is large. If it does not end, the other storage servers may have no space " +
      "left (`status details`), or too few zones remain for the redundancy mode; more storage " +
      "process groups, or larger volumes, let it go on.",
    remedy:
      "Nothing while data moves. If it lasts, look at free disk space and at `fdbcli --exec " +
      "'status details'`.",
  },
  InclusionPending: {
    concern: "passing",
    meaning:
      "Pod, volume and service of a process group are gone, and its exclusion is about to be " +
      "taken back. If the message says that the database still sees its process, a pod was " +
      "deleted by force while its node still runs it: stop the node, or the container on it.",
  },
  ProcessImpaired: {
    concern: "look",
    meaning:
      "Process groups run and are not well: somebody excluded their processes from the database " +
      "without asking for their removal, a disk gave errors, a process is overloaded, or the node " +
      "has a taint that `taintReplacementOptions` names. With `automationOptions.replacements` " +
      "they are replaced when it lasts. Who was excluded by hand and shall stay is included again " +
      "with `fdbcli --exec 'include ADDRESS'`.",
  },
  RemovalBlocked: {
    concern: "person",
    meaning:
      "Something that a person set keeps the objects of a process group that could go: the " +
      "annotation `foundationdb.org/isolate-process-group` on its pod, a fence, `buggify.blockRemoval`, " +
      "`automationOptions.removalMode: None`, or a second volume claim with its id. Or it was a coordinator, and alone leads " +
      "to the database who reads the ConfigMap, which the operator could not change. The message names which.",
    remedy: "Take away what holds it: the message names it.",
  },
  RemovalPending: {
    concern: "passing",
    meaning:
      "Process groups are marked for removal and are not gone yet: the status is not fit to " +
      "decide on, the process is still a coordinator, the removal before is not over (at most " +
      "`automationOptions.waitBetweenRemovalsSeconds` are waited for it), another fault domain " +
      "goes first, or Kubernetes is still deleting their objects. An object that is stuck in " +
      "deletion has a finalizer, or a node that does not answer.",
    remedy: "Nothing, unless it lasts: then look at the objects that the message names.",
  },
  ReplacementLimited: {
    concern: "look",
    meaning:
      "More failed process groups should be replaced than may be at a time. The message " +
      "names the bucket, its limit and who holds it: " +
      "`automationOptions.replacements.maxConcurrentReplacements`, or, with [replacement " +
      "buckets](replacement-buckets.md), a limit each for storage, logs and the rest. " +
      "Each is replaced when one before it is done. When many fail at once, look for the common " +
      "cause before raising a limit. With a limit of 0 none is replaced, also none whose specification changed.",
  },
  ReplacementQueued: {
    concern: "passing",
    meaning:
      "More process groups have to be replaced, since their specification changed, than " +
      "`automationOptions.maxConcurrentReplacements` allows at a time. Each is replaced when one " +
      "before it is done.",
  },
  ReplacementPostponed: {
    concern: "passing",
    meaning:
      "Process groups should be replaced, but not in the present state: the database is not " +
      "available, an upgrade or a change of TLS is under way, or a process group that was never " +
      "reachable can only go while the database has its full fault tolerance.",
  },
  ShrinkPending: {
    concern: "passing",
    meaning:
      "A class has more process groups than wanted, and nobody was chosen to go, since the status " +
      "is not fit to decide on. The message says what is wrong with it. Nothing has to be done " +
      "when the database is about to answer.",
    remedy: "Nothing, when the database is about to answer; else look at its pods.",
  },
  VolumeChangeAnnounced: {
    concern: "passing",
    meaning:
      "`volumeClaimTemplate` has changed. A volume keeps its size and class, so every process " +
      "group of the class is replaced: new ones get new volumes, and all data moves to them. That " +
      "begins a minute after the change; until then, putting the template back leaves everything " +
      "as it was. Afterwards replacements go on to their end.",
    remedy:
      "Nothing, if the volumes are to change and there is room for the new pods and volumes beside " +
      "the old ones. If they should stay as they are, put volumeClaimTemplate back before that time: " +
      "afterwards it is not taken back.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
