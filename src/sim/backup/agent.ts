// backup_agent: it keeps a connection to its database, takes tasks while agents are not paused, holds what it has taken by
// saying so in time, and tells about itself. A task that failed is left to time out, as one of an agent that died.
// Carries rules BSIM10, BSIM11 and BSIM12.
import { randomInteger } from "../../env/random.ts";
import { isFdbError } from "../../fdb/error.ts";
import type { ClientConnection } from "../database/client-connection.ts";
import type { Database } from "../database/database.ts";
import { withDeadline } from "../database/deadline.ts";
import { randomHex } from "../database/fabric.ts";
import { parseConnectionString } from "../database/network-address.ts";
import type { AgentWork, TaskRunner } from "./agent-work.ts";
import { backupTasks } from "./backup-tasks.ts";
import { LayerConfig } from "./layer-config.ts";
import { documentChanges, documentPeriodMs } from "./layer-document.ts";
import { restoreTasks } from "./restore-tasks.ts";
import type { Container } from "./store-client.ts";
import { parseStoreUrl } from "./store-url.ts";
import {
  claimTask,
  extendClaim,
  finishTask,
  isHeld,
  isPaused,
  leaseVersions,
  nextDueVersion,
  onWork,
} from "./task-bucket.ts";
import type { Claim, Task } from "./task-bucket.ts";
import { clusterFileOf, connect, containerOf } from "./tool-context.ts";
import type { ToolContext } from "./tool-context.ts";
import { ToolError } from "./tool-error.ts";
import { ToolEnded } from "./tool-life.ts";
import type { ToolOptions } from "./tool-options.ts";

/** How soon an agent starts to look for work, and looks again for work that was announced. */
const firstLookMs = 1_000;
const noticeMs = 300;
/** It looks at least this often, for keys that people change by themselves. */
const lookMs = 5_000;
const versionsPerMs = 1_000;
const lookAgainMs = 10_000;
const claimsMax = 10;
const runners: Readonly<Record<string, TaskRunner>> = { ...backupTasks, ...restoreTasks };

interface Held {
  readonly claim: Claim;
  /** It goes on working; a task that failed is no longer held up. */
  isWorking: boolean;
}

interface Requests {
  bytesSent: number;
  failed: number;
  successful: number;
}

export class BackupAgent {
  readonly #context: ToolContext;
  readonly #options: ToolOptions;
  readonly #clusterFile: string;
  readonly #connection: ClientConnection;
  readonly #id: string;
  readonly #processId: number;
  readonly #held = new Set<Held>();
  readonly #keysRead = new Map<string, boolean>();
  readonly #total: Requests = { bytesSent: 0, failed: 0, successful: 0 };
  #told: Requests & { atMs: number } = { bytesSent: 0, failed: 0, successful: 0, atMs: -Infinity };

  constructor(context: ToolContext, options: ToolOptions) {
    this.#context = context;
    this.#options = options;
    this.#clusterFile = clusterFileOf(context, options.get("--cluster-file"));
    this.#connection = connect(context, this.#clusterFile);
    this.#id = randomHex(context.fabric, 32);
    this.#processId = randomInteger(context.fabric.random, 2, 40_000);
  }

  /** Runs until the agent is killed. */
  async run(): Promise<never> {
    const { life, fabric } = this.#context;
    try {
      await life.sleep(randomInteger(fabric.random, 1, firstLookMs));
      for (;;) {
        const database = await this.#database();
        this.#keepClusterFile();
        this.#look(database);
        await this.#rest(database);
      }
    } finally {
      this.#connection.close();
    }
  }

  /** Until the next task is due, somebody announces work, or it is time to look anyway. */
  async #rest({ store }: Database): Promise<void> {
    const { life } = this.#context;
    const { version } = store.readNow({ begin: "", end: "" });
    const due = isPaused(store) ? Infinity : nextDueVersion(store);
    const dueMs = Math.ceil((due - version) / versionsPerMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    const forget = onWork(store, () => resolve());
    const rest = life.sleep(Math.min(lookMs, Math.max(noticeMs, dueMs)));
    const announced = promise.then(() => life.sleep(noticeMs));
    try {
      await Promise.race([rest, announced]);
    } finally {
      forget();
    }
  }

  /** While nobody answers, the agent looks whether its cluster file names other coordinators by now. */
  async #database(): Promise<Database> {
    const { life, spec } = this.#context;
    for (;;) {
      try {
        const asked = withDeadline(life.clock, lookAgainMs, (limit) =>
          this.#connection.serving(limit),
        );
        return await life.race(asked);
      } catch (error) {
        if (!isFdbError(error, 1031)) throw error;
        const stored = parseConnectionString(spec.files.read(this.#clusterFile) ?? "");
        if (stored !== undefined) this.#connection.follow(stored);
      }
    }
  }

  /** Other coordinators are written into the cluster file, where it can be written. */
  #keepClusterFile(): void {
    const { files } = this.#context.spec;
    const text = this.#connection.text();
    if ((files.read(this.#clusterFile) ?? "").trim() !== text) files.write(this.#clusterFile, text);
  }

  #look(database: Database): void {
    const { store } = database;
    const { version } = store.readNow({ begin: "", end: "" });
    for (const held of this.#held) {
      const isHalfOver = held.claim.timeoutVersion - version < leaseVersions / 2;
      if (held.isWorking && isHalfOver && isHeld(store, held.claim)) extendClaim(store, held.claim);
    }
    this.#tell(database);
    if (isPaused(store)) return;
    while (this.#held.size < claimsMax) {
      const claim = claimTask(store);
      if (claim === undefined) return;
      const held = { claim, isWorking: true };
      this.#held.add(held);
      void this.#work(database, held);
    }
  }

  async #work(database: Database, held: Held): Promise<void> {
    const { claim } = held;
    const { task } = claim;
    try {
      const outcome = await runners[task.type]?.(this.#surroundings(database), task);
      const current = await this.#database();
      if (current !== database) return;
      if (!isHeld(database.store, claim)) throw new ToolError(2382);
      finishTask(database.store, claim, outcome?.() ?? new Map());
    } catch (error) {
      if (error instanceof ToolEnded) return;
      if (!(error instanceof ToolError)) throw error;
      if (error.code !== 2382) this.#total.failed += 1;
      noteError(database, task, error);
      return;
    } finally {
      held.isWorking = false;
      this.#held.delete(held);
    }
    // What follows from a task is taken up at once.
    this.#look(database);
  }

  #surroundings(database: Database): AgentWork {
    const { life, spec } = this.#context;
    return {
      database,
      life,
      open: (url) => this.#open(url),
      readFile: (path) => {
        const text = spec.files.read(path);
        this.#keysRead.set(path, text !== undefined);
        return text;
      },
    };
  }

  #open(text: string): Container {
    const url = parseStoreUrl(text);
    if ("problem" in url) throw new ToolError(2314);
    const container = containerOf(this.#context, this.#options, url);
    const counted = async <T>(request: Promise<T>, bytes = 0): Promise<T> => {
      const answer = await request;
      this.#total.successful += 1;
      this.#total.bytesSent += bytes;
      return answer;
    };
    return {
      ...container,
      put: (object) => counted(container.put(object), object.bytes),
      objects: () => counted(container.objects()),
    };
  }

  #tell(database: Database): void {
    const { spec, life } = this.#context;
    const nowMs = life.clock.nowMs();
    const told = this.#told;
    if (nowMs - told.atMs < documentPeriodMs) return;
    const total = { ...this.#total };
    const recent = {
      bytesSent: total.bytesSent - told.bytesSent,
      failed: total.failed - told.failed,
      successful: total.successful - told.successful,
      seconds: Number.isFinite(told.atMs) ? (nowMs - told.atMs) / 1000 : 0,
    };
    this.#told = { ...total, atMs: nowMs };
    const figures = {
      ...{ id: this.#id, processId: this.#processId, version: spec.version, recent, total },
      address: spec.pod.ips[0] ?? "127.0.0.1",
      locality: localityOf(spec.args),
      encryptionKeys: Array.from(this.#keysRead, ([path, success]) => ({ path, success })),
    };
    database.store.write([], documentChanges(database, figures));
  }
}

function noteError(database: Database, task: Task, error: ToolError): void {
  const config = new LayerConfig(database.store, task.layer, task.uid);
  const { version } = database.store.readNow({ begin: "", end: "" });
  const text = `'${error.message}' on '${task.type}'`;
  database.store.write([], config.errorChanges(error.code, text, version));
}

function localityOf(args: readonly string[]): Record<string, string> {
  const pairs = args.flatMap((argument) => {
    const match = /^--locality[_-]([^=]+)=(.*)$/.exec(argument);
    return match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const];
  });
  return Object.fromEntries(pairs);
}
