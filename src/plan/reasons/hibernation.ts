// Reasons around a database that is to sleep.
import type { Reason } from "./reason.ts";

const minuteMs = 60_000;

export const hibernationReasons = {
  HibernationHeld: {
    concern: "look",
    usualMs: 60 * minuteMs,
    meaning:
      "`spec.hibernate` is true, and the database is not as whole as it has to be before it is stopped: " +
      "an upgrade, a replacement, an exclusion or a movement of data is not finished, a fault domain is " +
      "down, or it is only being created. The operator goes on with that work, and stops the database when " +
      "it is in full health.",
    remedy:
      "Nothing, when it passes by itself; otherwise bring the database into order, or take spec.hibernate back.",
    page: "hibernation",
  },
  HibernationRefused: {
    concern: "person",
    meaning:
      "`spec.hibernate` is true, but the database would not come back as it was: coordinators are known by " +
      "addresses that go with their pods, or data lies in a pod without a volume that stays. The database " +
      "goes on serving.",
    page: "hibernation",
  },
  HibernationUnconfirmed: {
    concern: "person",
    meaning:
      "`spec.hibernate` is true, and somebody may need the database: clients are connected, a backup runs, or " +
      "other resources share it. It is stopped when that has ended, or when `spec.hibernateDespite` names it.",
    page: "hibernation",
  },
  SleepingAddressLost: {
    concern: "person",
    meaning:
      "While the database sleeps, somebody made a service of a coordinator again, and it has another address now. " +
      "A database of which the majority of coordinators is not found under the known addresses does not wake.",
    page: "hibernation",
  },
  HibernationStopping: {
    concern: "look",
    usualMs: 10 * minuteMs,
    meaning:
      "The database has been stopped for its sleep, and pods are still there that were told to end. Volumes stay.",
    remedy: "Nothing, when they go; otherwise look at the node of the named pods.",
    page: "hibernation",
  },
} as const satisfies Readonly<Record<string, Reason>>;
