// The guard with everything around it made up: a healthy sample database, commands that are written down, and keys in a
// plain map.
import { ServerClock } from "../../src/kube/server-clock.ts";
import type { AdminClient, FdbTransaction } from "../../src/fdb/admin.ts";
import { operatorKeys } from "../../src/fdb/keys.ts";
import { LockWatch } from "../../src/fdb/lock.ts";
import type { Caches } from "../../src/operate/caches.ts";
import { Doubts } from "../../src/operate/doubts.ts";
import { Guard } from "../../src/operate/guard.ts";
import type { GuardOutcome, GuardedDatabase } from "../../src/operate/guard.ts";
import { Ledger } from "../../src/operate/ledger.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { KubeError } from "../../src/kube/error.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import { sharedStages } from "../../src/operate/shared-stages.ts";
import type { Stage } from "../../src/operate/shared-stages.ts";
import { sampleDatabase, sampleNowMs, viewOf } from "../fixtures/sample-view.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";

export const keys = operatorKeys();

export class Door {
  readonly clock = new VirtualClock(sampleNowMs);
  readonly sample = sampleDatabase();
  readonly commands: string[] = [];
  /** As the API server has them, whatever our copy says. */
  readonly claims = new Map(this.sample.pvcs);
  readonly excluded = new Set<string>();
  readonly stored = new Map<string, Uint8Array>();
  readonly peers: GuardedDatabase[] = [];
  /** A command that is answered with success and does nothing. */
  isIneffective = false;
  /** What the poller has read last; the database as it is now when absent. */
  polled: DatabaseStatus | undefined;
  polledMs: number | undefined;
  stages: readonly Stage[] = sharedStages;
  /** How long this instance is certainly alone. */
  termMs = Infinity;
  isTakenOver = false;
  /** Runs while a command is under way. */
  during: () => void | Promise<void> = () => {};
  readonly database: GuardedDatabase;

  constructor() {
    const { clock, sample } = this;
    const ledger = new Ledger(clock);
    const watch = new LockWatch();
    this.database = {
      namespace: "default",
      admin: this.#admin(),
      lastWriteMs: 0,
      ledger,
      doubts: new Doubts(),
      isActing: false,
      lease: undefined,
      observe: () =>
        viewOf(sample, {
          nowMs: clock.nowMs(),
          database: {
            kind: "seen",
            status: this.polled ?? sample.status,
            observedMs: this.polledMs ?? clock.nowMs(),
          },
          ledger: ledger.entries(),
          lastDatabaseWriteMs: this.database.lastWriteMs,
        }),
      noteStatus: (status, observedMs) => {
        [this.polled, this.polledMs] = [status, observedMs];
      },
      peers: () => this.peers,
      shared: () => ({
        keys: { admin: this.#admin(), keys },
        settings: { owner: "dc1", durationMs: 600_000, watch },
      }),
    };
  }

  perform(action: DisruptiveAction): Promise<GuardOutcome> {
    return this.guard().perform(this.database, action);
  }

  guard(): Guard {
    return new Guard({
      client: this.#client(),
      caches: { pods: { get: () => undefined } } as unknown as Caches,
      clock: this.clock,
      serverClock: new ServerClock(),
      commandTimeoutMs: 10_000,
      statusTimeoutMs: 10_000,
      stages: this.stages,
      remainingTermMs: () => this.termMs,
      isTakenOver: () => this.isTakenOver,
    });
  }

  /** The API server knows the claims of today, and deletes what it is told to. */
  #client(): KubeClient {
    const get = (_resource: unknown, { name }: { name: string }) => {
      const claim = this.claims.get(name);
      const gone = new KubeError(404, "NotFound", `${name} not found`);
      return claim === undefined ? Promise.reject(gone) : Promise.resolve(claim);
    };
    const remove = (_resource: unknown, { name }: { name: string }): Promise<void> => {
      this.commands.push(`delete ${name}`);
      return Promise.resolve();
    };
    return { get, delete: remove } as unknown as KubeClient;
  }

  #admin(): AdminClient {
    const { sample } = this;
    const command = async (text: string, effect: () => void): Promise<void> => {
      this.commands.push(text);
      await this.during();
      if (!this.isIneffective) effect();
    };
    const admin: Partial<AdminClient> = {
      configure: (text) => command(`configure ${text}`, () => {}),
      exclude: (targets, { wait }) =>
        command(`exclude ${targets.join(" ")}${wait ? " and wait" : ""}`, () => {
          for (const target of targets) this.excluded.add(target);
        }),
      include: (targets) =>
        command(`include ${targets.join(" ")}`, () => {
          for (const target of targets) this.excluded.delete(target);
        }),
      excluded: () => Promise.resolve([...this.excluded]),
      kill: (addresses) => command(`kill ${addresses.join(" ")}`, () => {}),
      changeCoordinators: async (addresses) => {
        await command(`coordinators ${addresses.join(" ")}`, () => {});
        return `sample:def@${this.isIneffective ? "10.0.1.1:4501" : addresses.join(",")}`;
      },
      resetMaintenanceZone: () => command("maintenance off", () => {}),
      status: async () => {
        await this.during();
        return structuredClone(sample.status);
      },
      transact: (body) => body(plainTransaction(this.stored)),
    };
    return admin as AdminClient;
  }
}

/** All that the operator's keys need: a map without concurrency. */
function plainTransaction(stored: Map<string, Uint8Array>): FdbTransaction {
  const text = (key: Uint8Array): string => Buffer.from(key).toString("latin1");
  return {
    get: (key) => Promise.resolve(stored.get(text(key))),
    getRange: (begin, end) =>
      Promise.resolve(
        [...stored]
          .filter(([key]) => key >= text(begin) && key < text(end))
          .sort(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, value]) => ({ key: Buffer.from(key, "latin1"), value })),
      ),
    estimatedBytes: () => Promise.resolve(0),
    set: (key, value) => void stored.set(text(key), value),
    clear: (key) => void stored.delete(text(key)),
    clearRange: (begin, end) => {
      for (const key of [...stored.keys()]) {
        if (key >= text(begin) && key < text(end)) stored.delete(key);
      }
    },
  };
}
