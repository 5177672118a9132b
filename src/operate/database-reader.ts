// Asks a database in the background what its status does not tell. A pass says what it would like to know, goes on, and
// a later pass finds the answers with their times. Rules: spec/safety.md [S1]-[S9], [S120], spec/upgrade.md [U31].
import type { Clock } from "../env/clock.ts";
import type { AdminClient, AdminClientFactory } from "../fdb/admin.ts";
import { readAnnouncements } from "../fdb/announcements.ts";
import { readSets } from "../fdb/coordination-sets.ts";
import { readDenyList } from "../fdb/deny-list.ts";
import { storedSets } from "../fdb/keys.ts";
import { readLock } from "../fdb/lock.ts";
import { readMaintenanceList } from "../fdb/maintenance-list.ts";
import { readPendingUpgrades } from "../fdb/pending-upgrades.ts";
import type { SharedKeys } from "../fdb/shared-keys.ts";
import { formatVersion, oneOfEachProtocol, parseVersion } from "../model/version.ts";
import type { Action } from "../plan/action.ts";
import { questionKey, verificationMaximumAgeMs } from "../plan/questions.ts";
import type { ConfirmedExclusion, DatabaseKnowledge, DatabaseQuestion } from "../plan/questions.ts";
import { runningVersionOf } from "../plan/view/running-version.ts";
import { nothingSeen, rememberSets } from "../plan/view/shared-sets.ts";
import type { CoordinationSets, SetMemory } from "../plan/view/shared-sets.ts";
import { isSameJson } from "../plan/view/same-json.ts";
import type { DatabaseTarget } from "./database-poller.ts";
import { MaintenanceMemory } from "./maintenance-memory.ts";

export interface DatabaseReaderOptions {
  clock: Clock;
  admin: AdminClientFactory;
  /** The client of the database that is followed now, for whom it belongs to. */
  client: () => AdminClient | undefined;
  target: () => DatabaseTarget | undefined;
  shared: () => { keys: SharedKeys } | undefined;
  /** A waiting exclusion; the guard's, since it is the only one that may exclude. */
  verifyExclusion: (targets: readonly string[], timeoutMs: number) => Promise<void>;
  timeoutMs: number;
  /** A status takes longer than other answers when the database is in trouble. */
  statusTimeoutMs: number;
  /** How long a waiting exclusion is waited for. */
  verificationTimeoutMs: number;
  /** An answered question is not asked again before this time has passed. */
  minimumIntervalMs: number;
  /** Called when an answer brings something new. */
  onAnswer: () => void;
}

/** A confirmed exclusion stays true while it stands; it is asked for again before it runs out. */
const verificationIntervalMs = 120_000;
const backOffMaximumMs = 60_000;
const looksApartMaxMs = 120_000;

/** What the writes to shared keys make out of date. */
const changedParts: Readonly<
  Partial<Record<Action["type"], Exclude<keyof DatabaseKnowledge, "verified">>>
> = {
  updateDenyList: "denyList",
  registerPendingUpgrade: "pendingUpgrades",
  withdrawPendingUpgrade: "pendingUpgrades",
  updateMaintenanceList: "maintenanceList",
  updateCoordination: "coordination",
  migrateCoordination: "coordination",
  killProcesses: "coordination",
  releaseLock: "lock",
};

interface Entry {
  readonly question: DatabaseQuestion;
  isAsking: boolean;
  /** Not before this time. */
  nextMs: number;
  failures: number;
}

export class DatabaseReader {
  readonly #options: DatabaseReaderOptions;
  readonly #entries = new Map<string, Entry>();
  #knowledge: DatabaseKnowledge = { verified: new Map() };
  /** Since when the coordination sets are as they are; our own writes are changes like any other. */
  #setMemory: SetMemory = nothingSeen;
  #setsLookedMs = 0;
  #maintenance = new MaintenanceMemory();
  #client: AdminClient | undefined;
  #isClosed = false;

  constructor(options: DatabaseReaderOptions) {
    this.#options = options;
  }

  get knowledge(): DatabaseKnowledge {
    this.#followClient();
    return this.#knowledge;
  }

  ask(questions: readonly DatabaseQuestion[]): void {
    this.#followClient();
    const nowMs = this.#options.clock.nowMs();
    this.#forgetOthers(questions);
    this.#keepVerified(({ completedMs }) => nowMs - completedMs <= verificationMaximumAgeMs);
    for (const question of questions) {
      const key = questionKey(question);
      const known = this.#entries.get(key);
      if (known !== undefined && (known.isAsking || nowMs < known.nextMs)) continue;
      const entry = { question, isAsking: true, nextMs: 0, failures: known?.failures ?? 0 };
      this.#entries.set(key, entry);
      void this.#answer(question, entry);
    }
  }

  /** Our own write has changed what was read: an answer from before it, also one under way, says nothing any more. */
  noteWrite(action: Action): void {
    if (action.type === "includeProcesses") this.#noteInclusion(action.targets);
    const part = changedParts[action.type];
    if (part !== undefined) this.#forget(part);
  }

  /** Another fault domain is under maintenance: whoever began that has listed its process groups since the last look. */
  noteMaintenance(): void {
    this.#forget("maintenanceList");
  }

  #forget(part: Exclude<keyof DatabaseKnowledge, "verified">): void {
    const { [part]: _, ...rest } = this.#knowledge;
    this.#knowledge = rest;
    for (const key of [...this.#entries.keys()]) {
      if (key === part || key.startsWith(`${part}/`)) this.#entries.delete(key);
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  /** What is included again may hold data again. */
  #noteInclusion(included: readonly string[]): void {
    const isTouched = (targets: readonly string[]): boolean =>
      targets.some((target) => included.includes(target));
    this.#keepVerified(({ targets }) => !isTouched(targets));
    for (const [key, { question }] of [...this.#entries]) {
      if (question.type === "verifyExclusion" && isTouched(question.targets)) {
        this.#entries.delete(key);
      }
    }
  }

  #keepVerified(isKept: (confirmed: ConfirmedExclusion) => boolean): void {
    const { verified } = this.#knowledge;
    const kept = [...verified].filter(([, confirmed]) => isKept(confirmed));
    if (kept.length === verified.size) return;
    this.#knowledge = { ...this.#knowledge, verified: new Map(kept) };
  }

  /** Another connection is another database as far as anybody knows: what was learnt about the old one is void. */
  #followClient(): void {
    const client = this.#options.client();
    if (client === this.#client) return;
    this.#client = client;
    this.#entries.clear();
    this.#knowledge = { verified: new Map() };
    this.#setMemory = nothingSeen;
    this.#maintenance = new MaintenanceMemory();
  }

  /** Questions that nobody asks any more are forgotten with their back-off. */
  #forgetOthers(questions: readonly DatabaseQuestion[]): void {
    const asked = new Set(questions.map(questionKey));
    for (const [key, entry] of this.#entries) {
      if (!asked.has(key) && !entry.isAsking) this.#entries.delete(key);
    }
  }

  async #answer(question: DatabaseQuestion, entry: Entry): Promise<void> {
    const { clock, onAnswer, minimumIntervalMs } = this.#options;
    const client = this.#client;
    const observedMs = clock.nowMs();
    const addTo = await this.#read(question, observedMs);
    entry.isAsking = false;
    if (this.#isClosed || client !== this.#client) return;
    if (this.#entries.get(questionKey(question)) !== entry) return;
    if (addTo === undefined) {
      entry.failures += 1;
      const backOffMs = Math.min(backOffMaximumMs, 1000 * 2 ** (entry.failures - 1));
      entry.nextMs = clock.nowMs() + backOffMs;
      return;
    }
    entry.failures = 0;
    const intervalMs =
      question.type === "verifyExclusion" ? verificationIntervalMs : minimumIntervalMs;
    entry.nextMs = clock.nowMs() + intervalMs;
    // Joined with what is known at this very moment: several answers may come in one turn.
    const found = addTo(this.#knowledge);
    const isNews = !isSameJson(contentOf(this.#knowledge), contentOf(found));
    this.#knowledge = found;
    if (isNews) onAnswer();
  }

  /** What the answer adds to the knowledge; undefined when there was none in time. */
  async #read(
    question: DatabaseQuestion,
    observedMs: number,
  ): Promise<((knowledge: DatabaseKnowledge) => DatabaseKnowledge) | undefined> {
    try {
      const part = await this.#partOf(question, observedMs);
      if (part === undefined) return undefined;
      if (question.type !== "verifyExclusion") return (knowledge) => ({ ...knowledge, ...part });
      const { processGroupId, targets } = question;
      return (knowledge) => {
        const verified = new Map(knowledge.verified);
        verified.set(processGroupId, { targets, completedMs: observedMs });
        return { ...knowledge, verified };
      };
    } catch {
      // No answer is an answer too: the step that asked goes on waiting, and the question is asked again later.
      return undefined;
    }
  }

  async #partOf(
    question: DatabaseQuestion,
    observedMs: number,
  ): Promise<Partial<DatabaseKnowledge> | undefined> {
    const { timeoutMs, verificationTimeoutMs } = this.#options;
    switch (question.type) {
      case "exclusions":
        return this.#exclusions(observedMs);
      case "verifyExclusion":
        await this.#options.verifyExclusion(question.targets, verificationTimeoutMs);
        return {};
      case "reachableVersion":
        return this.#reachableVersion(question.versions, observedMs);
      default:
        break;
    }
    const shared = this.#options.shared();
    if (shared === undefined) return undefined;
    const keys = { ...shared.keys, timeoutMs };
    switch (question.type) {
      case "denyList":
        return { denyList: { ids: await readDenyList(keys), observedMs } };
      case "maintenanceList":
        return this.#maintenanceList(keys, observedMs);
      case "pendingUpgrades":
        return this.#pendingUpgrades(keys, question.version, observedMs);
      case "coordination": {
        const [sets, windows, fences] = await Promise.all([
          readSets(keys, storedSets),
          readAnnouncements(keys, "windows"),
          readAnnouncements(keys, "fences"),
        ]);
        const memory = this.#remember(sets, observedMs);
        return { coordination: { sets, windows, fences, observedMs, memory } };
      }
      case "lock":
        return { lock: { stored: await readLock(keys), observedMs } };
    }
  }

  async #maintenanceList(
    keys: SharedKeys,
    observedMs: number,
  ): Promise<Partial<DatabaseKnowledge>> {
    const listed = await readMaintenanceList(keys);
    const entries = this.#maintenance.note(listed, observedMs, this.#options.clock.nowMs());
    return { maintenanceList: { entries, observedMs } };
  }

  #remember(sets: CoordinationSets, observedMs: number): SetMemory {
    // Who has not looked for long does not know what happened meanwhile.
    const isOld = observedMs - this.#setsLookedMs > looksApartMaxMs;
    this.#setMemory = rememberSets(isOld ? nothingSeen : this.#setMemory, sets, observedMs);
    this.#setsLookedMs = observedMs;
    return this.#setMemory;
  }

  async #exclusions(observedMs: number): Promise<Partial<DatabaseKnowledge> | undefined> {
    const { timeoutMs } = this.#options;
    if (this.#client === undefined) return undefined;
    const [excluded, inProgress] = await Promise.all([
      this.#client.excluded(timeoutMs),
      this.#client.exclusionsInProgress(timeoutMs),
    ]);
    return { exclusions: { excluded, inProgress, observedMs } };
  }

  async #pendingUpgrades(
    keys: SharedKeys,
    version: string | undefined,
    observedMs: number,
  ): Promise<Partial<DatabaseKnowledge>> {
    const ids = [...(await readPendingUpgrades(keys, version))].sort();
    const before = this.#knowledge.pendingUpgrades;
    const isSame =
      before !== undefined &&
      before.version === version &&
      observedMs - before.observedMs <= looksApartMaxMs &&
      isSameJson(before.ids, ids);
    const sinceMs = isSame ? before.sinceMs : observedMs;
    return { pendingUpgrades: { version, ids, sinceMs, observedMs } };
  }

  /** What the processes run that the first client reaches: clients of the named versions, then all others there are. */
  async #reachableVersion(
    versions: readonly string[],
    observedMs: number,
  ): Promise<Partial<DatabaseKnowledge> | undefined> {
    const { admin } = this.#options;
    const target = this.#options.target();
    if (target === undefined) return undefined;
    for (const version of clientVersions([...versions, ...admin.installedVersions()])) {
      if (!admin.isVersionSupported(version)) continue;
      const found = await this.#versionReached({ ...target, version });
      if (found !== undefined) return { reachableVersion: { version: found, observedMs } };
    }
    return undefined;
  }

  async #versionReached(target: DatabaseTarget): Promise<string | undefined> {
    const client = this.#options.admin.open(target);
    try {
      const status = await client.status(this.#options.statusTimeoutMs);
      const hasProcesses = Object.keys(status.cluster?.processes ?? {}).length > 0;
      if (status.client?.coordinators?.quorum_reachable !== true || !hasProcesses) return undefined;
      return runningVersionOf(status, target.version);
    } catch {
      // A client of the wrong version gets no answer, which is what is being found out.
      return undefined;
    } finally {
      client.close();
    }
  }
}

/** One of each protocol, the first one: another one would find the same. */
function clientVersions(versions: readonly string[]): string[] {
  const found = versions.flatMap((text) => parseVersion(text) ?? []);
  return oneOfEachProtocol(found).map(formatVersion);
}

/** What an answer says, without when it was said. */
function contentOf(knowledge: DatabaseKnowledge): unknown {
  const { exclusions, denyList, pendingUpgrades, maintenanceList, lock } = knowledge;
  return [
    [...knowledge.verified],
    [exclusions?.excluded, exclusions?.inProgress],
    denyList?.ids,
    [pendingUpgrades?.version, pendingUpgrades?.ids],
    maintenanceList && [...maintenanceList.entries],
    lock?.stored,
    knowledge.reachableVersion?.version,
    knowledge.coordination?.sets,
    knowledge.coordination?.windows && [...knowledge.coordination.windows],
    knowledge.coordination?.fences && [...knowledge.coordination.fences],
  ];
}
