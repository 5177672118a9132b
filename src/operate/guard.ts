// The one door for danger: every action that can take something away from a database is checked here against
// evidence, and performed here, or refused with a reason. Rules: spec/operate.md [OP20]-[OP23].
import type { Clock } from "../env/clock.ts";
import type { AdminClient } from "../fdb/admin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { DisruptiveAction } from "../plan/action.ts";
import type { Caches } from "./caches.ts";
import { configureDatabase, deletePod } from "./disruptive-effects.ts";

export interface GuardOptions {
  client: KubeClient;
  caches: Caches;
  clock: Clock;
  /** A status older than this proves nothing. */
  evidenceMaximumAgeMs: number;
  /** Time limit of a command to the database. */
  commandTimeoutMs: number;
}

/** What the guard must know about the database whose pods and settings are at stake. */
export interface GuardedDatabase {
  namespace: string;
  admin: AdminClient | undefined;
  /** The time of our own last disruptive write to this database; the guard keeps it current. */
  lastWriteMs: number;
}

export type GuardOutcome = { isPerformed: true } | { isPerformed: false; reason: string };

export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Throws only when the write itself failed. */
  async perform(database: GuardedDatabase, action: DisruptiveAction): Promise<GuardOutcome> {
    const refusal = this.#refusal(database, action);
    if (refusal !== undefined) return { isPerformed: false, reason: refusal };
    await this.#effect(database, action);
    return { isPerformed: true };
  }

  #refusal(database: GuardedDatabase, action: DisruptiveAction): string | undefined {
    switch (action.type) {
      case "deletePod":
        return this.#refusalOfDelete(database, action);
      case "configureDatabase":
        return this.#refusalOfConfigure(database, action);
    }
  }

  /** A pod that ended cannot be missed, but it must still be the pod that was seen. */
  #refusalOfDelete(
    database: GuardedDatabase,
    action: DisruptiveAction & { type: "deletePod" },
  ): string | undefined {
    const { namespace } = database;
    const pod = this.#options.caches.pods.get({ namespace, name: action.basis.name });
    if (pod === undefined || pod.metadata.uid !== action.basis.uid) return "the pod is another one";
    const phase = pod.status?.phase;
    if (phase !== "Failed" && phase !== "Succeeded") return "the pod has not ended";
    return undefined;
  }

  #refusalOfConfigure(
    database: GuardedDatabase,
    action: DisruptiveAction & { type: "configureDatabase" },
  ): string | undefined {
    if (database.admin === undefined) return "there is no connection to the database";
    if (action.evidenceMs <= database.lastWriteMs) {
      return "the status is older than the last change to the database";
    }
    const ageMs = this.#options.clock.nowMs() - action.evidenceMs;
    if (ageMs > this.#options.evidenceMaximumAgeMs) return "the status is too old";
    return undefined;
  }

  async #effect(database: GuardedDatabase, action: DisruptiveAction): Promise<void> {
    const { client, caches, clock, commandTimeoutMs } = this.#options;
    if (action.type === "deletePod") {
      return deletePod(client, caches.pods, database.namespace, action.basis);
    }
    if (database.admin === undefined) throw new Error("a command needs a connection");
    try {
      await configureDatabase(database.admin, action.arguments, commandTimeoutMs);
    } finally {
      // A command that failed may have been carried out all the same, so its time counts too.
      database.lastWriteMs = clock.nowMs();
    }
  }
}
