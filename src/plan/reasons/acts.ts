// Reasons around what disturbs a database: proofs, budgets, restarts, and what the operator itself waits for.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const actReasons = {
  ActInFlight: {
    concern: "passing",
    meaning:
      "Another disruptive act on this database has not ended: a restart whose processes are not " +
      "back yet, pods that were deleted and do not report again, or a command that is under way. " +
      "Nothing else disruptive happens until it has.",
    remedy: "Nothing: it goes on when the processes of the act before are back.",
  },
  ActionFailed: {
    concern: "look",
    rank: "operator",
    meaning:
      "A write was refused by the API server, or a command by the database. The message is its " +
      "answer: a quota that is used up, a permission that is missing, an admission webhook that " +
      "says no. The same action is tried again with pauses from one second to one minute; " +
      "everything else goes on meanwhile.",
  },
  BudgetExhausted: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "As many fault domains are down, not ready or on their way down as the database can lose. " +
      "What is down is counted whoever took it down: pods that are not ready, processes that do " +
      "not report, nodes that are gone, and the operator's own acts. Bring the named ones back; " +
      "the operator goes on by itself. One that has just started waits 90 seconds, since FoundationDB " +
      "may not have noticed yet what was lost before.",
    remedy: "Bring back the pods, nodes or processes that are down.",
  },
  CanaryFailed: {
    concern: "person",
    rank: "canary",
    meaning:
      "One process group was given the new settings before all others, and does not run with " +
      "them: its `fdbserver` ends at its start, or its pod cannot start. The message names it, " +
      "the custom parameters that are new and their field. Nothing else has been restarted, and " +
      "the database serves with everything else. Look at the log of the named pod. Correct the " +
      "setting, which is a new try, or take it back: the one process then comes back by itself. " +
      "Only where all coordinators are others by then, and those of before are gone, it finds " +
      "nobody, and its process group is replaced: see ClusterFileOutdated.",
  },
  CanaryProving: {
    concern: "passing",
    meaning:
      "One process group has been restarted with the new settings, alone. The others follow when " +
      "it reports to the database and has been running for ten seconds.",
    remedy: "Nothing: it takes seconds, and counts as failed after two minutes.",
  },
  CertificateMissing: {
    concern: "passing",
    meaning:
      "A pod or volume goes only when it is proved that the database does not need it any more: " +
      "its processes are excluded and hold no role in two fresh statuses of a fully recovered " +
      "database, or, if they are dead, FoundationDB has confirmed that their data is elsewhere. " +
      "The message names the part of the proof that is missing. While data moves there is nothing " +
      "to do.",
    remedy:
      "Nothing, while data moves; if it lasts, look at `fdbcli --exec exclude` and at free disk " +
      "space.",
  },
  CommandRunning: {
    concern: "passing",
    meaning:
      "The database is carrying out a command of the operator. Pods, volumes and services are " +
      "looked after meanwhile.",
    remedy: "Nothing: it answers within seconds.",
  },
  EvidenceStale: {
    concern: "passing",
    meaning:
      "The status that the decision rests on is too old, or older than the operator's own last " +
      "act. A newer one is being read.",
    remedy: "Nothing: a newer status is being read.",
  },
  FaultToleranceReduced: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "Process groups hold nothing any more and could go, but the database has fewer copies, logs " +
      "or coordinators than its redundancy mode promises. Nothing is taken away in that state, " +
      "whatever was proven. It goes on when the database has healed; bring back what is down.",
    remedy: "Bring back what is down, or wait until the database has healed.",
  },
  LockHeld: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "Several operator instances look after this database and another one holds its lock. The " +
      "message names the owner and when the lock is taken over if it is not renewed: after " +
      "`lockDurationMinutes`, counted from when this operator saw it first. An instance that is " +
      "gone for good is put on `lockOptions.denyList`, which frees its lock at once.",
    remedy:
      "Wait for the other instance, or put it on lockOptions.denyList if it is gone for good.",
  },
  MaintenanceRunning: {
    concern: "passing",
    meaning:
      "A fault domain is under maintenance: FoundationDB does not move its data away meanwhile. " +
      "It ends when the storage processes on the shared list have restarted, or when its time is over. " +
      "While it is a person's (`kubectl fdb maintenance start`), the operator restarts nothing and makes no pod anew.",
    remedy: "Nothing: it ends by itself. `kubectl fdb maintenance end` ends a person's at once.",
    page: "maintenance",
  },
  MaintenanceWindowClosed: {
    concern: "passing",
    page: "maintenance-windows",
    meaning:
      "The resource names maintenance windows, none is open, and what is to be done would cost the " +
      "database a recovery or take a fault domain away from it without repairing anything. The " +
      "message says what it is and when the next window opens. Everything else goes on meanwhile, " +
      "repairs among it.",
    remedy:
      "Nothing: it happens when the window opens. If it cannot wait, annotate the resource with " +
      "foundationdb.org/urgent-generation and its metadata.generation.",
  },
  NotLeading: {
    concern: "passing",
    meaning:
      "The Lease by which one of several instances works was not renewed in time, so another " +
      "instance may have taken over: nothing disruptive happens until it is renewed. It is seen " +
      "for seconds at most; if it lasts, the operator cannot reach the API server.",
    remedy: "Nothing: it goes on when the Lease is renewed, or another instance goes on.",
  },
  PlanTooLong: {
    concern: "look",
    rank: "operator",
    meaning:
      "Deciding what to do for this cluster took more than five seconds of the operator's time, " +
      "and was ended before the named step. The steps before it count; the others are looked at " +
      "half a minute later, so that the other clusters of this operator are not held up. Give the " +
      "operator more CPU. A resource with very many process groups is better split.",
    remedy: "Give the operator more CPU, or ask for fewer process groups in this resource.",
  },
  ProcessNeedsRestart: {
    concern: "person",
    meaning:
      "The configuration in the pod is right, but the process was started with an older one, and " +
      "the operator may not restart it: `automationOptions.killProcesses` is off, or " +
      "`buggify.ignoreDuringRestart` names it, or restarts have not changed its command line. " +
      'Restart it with `fdbcli --exec "kill; kill ADDRESS; sleep 5"`: one call for all processes ' +
      "costs one recovery, one call for each of them costs many.",
  },
  RestartHeld: {
    concern: "passing",
    meaning:
      "Processes have to be restarted to run with a new command line, and the database is not " +
      "ready for it: the last recovery or the start of a process is less than " +
      "`spec.minimumUptimeSecondsForBounce` seconds ago, it has too many generations, or it says " +
      "itself that it could not restart cleanly.",
  },
} as const satisfies Readonly<Record<string, Reason>>;
