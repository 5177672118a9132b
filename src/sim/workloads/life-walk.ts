// The walk of a life: a reconciled cluster drawn from a seed, twenty random things that happen to it (wishes of its
// owner, troubles, acts of people, deaths of the operator), then peace. Rules: spec/world.md [W66]-[W69], [W110].
import { apiVersion, foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../api/cluster.ts";
import type { DatabaseTruth } from "../database/simulated-fdb.ts";
import { keyedRandom } from "../../env/keyed-random.ts";
import type { Stored } from "../../kube/resource.ts";
import { createCertificates } from "../sample-certificates.ts";
import { backupFaultNames } from "./backups/backup-fault-names.ts";
import type { BackupFaultName } from "./backups/backup-fault-names.ts";
import { backupFaults } from "./backups/backup-faults.ts";
import { followBackupRemedies, makeBackupPeace, proveBackups } from "./backups/backup-rest.ts";
import { backupAct } from "./backups/backup-acts.ts";
import type { BackupScene } from "./backups/backup-scene.ts";
import { followRemedies } from "./helpful-person.ts";
import { humanAct, lifeActs } from "./life-acts.ts";
import { faultNames } from "./fault-names.ts";
import type { FaultName } from "./fault-names.ts";
import { lifeFaults } from "./life-faults.ts";
import type { LifeFault } from "./life-faults.ts";
import { lifePlanOf } from "./life-plan.ts";
import type { LifeStep, PlannedFault } from "./life-plan.ts";
import { LifeScene } from "./life-scene.ts";
import { copyName, minuteMs, namespace } from "./life-terms.ts";
import type { SceneOptions } from "./life-scene.ts";
import type { LifeMember, LifeShape } from "./life-shape.ts";
import { newestVersion } from "./spec-changes.ts";
import type { Stalls } from "./stall-watch.ts";

export interface LifeOptions extends SceneOptions {
  steps?: number;
  /** Ids of what is left out of the life; see life-plan.ts. */
  without?: readonly string[];
  /** Only these of the faults may happen. */
  faults?: readonly (FaultName | BackupFaultName)[];
}

export interface LifeResult {
  seed: number;
  shape: LifeShape;
  /** What happened to the cluster, in order. */
  events: string[];
  /** Why it failed; absent when all was well. */
  failure?: string;
  /** Last lines of the history. */
  lastLines: readonly string[];
  hash: string;
  virtualMinutes: number;
  /** What acts of the operator cost those who use the database. */
  stalls: Stalls;
  /** Transfers of the application that used the database; 0 in a life with backups. */
  transfers: number;
}

const usualSteps = 20;
/** An hour, and what a pass and a status take. */
const adviceMs = 62 * minuteMs;

/** What will happen in the life of a seed. */
export function planOfLife(seed: number, options: LifeOptions): readonly LifeStep[] {
  const { steps = usualSteps, without = [], backups } = options;
  const { faults = backups === true ? [...faultNames, ...backupFaultNames] : faultNames } = options;
  return lifePlanOf(seed, { steps, faults, without, backups });
}

/** Never throws for what goes wrong in the world: the result says it. */
export async function walkLife(seed: number, options: LifeOptions = {}): Promise<LifeResult> {
  const life = new LifeWalk(seed, options);
  let failure: string | undefined;
  try {
    await life.run();
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const result = life.result();
  try {
    await life.close();
  } catch (error) {
    failure ??= `the world does not end: ${String(error)}`;
  }
  return failure === undefined ? result : { ...result, failure };
}

interface OngoingFault {
  name: string;
  end: () => Promise<void>;
  untilStep: number;
}

class LifeWalk {
  readonly #seed: number;
  readonly #scene: LifeScene;
  readonly #plan: readonly LifeStep[];
  #ongoing: readonly OngoingFault[] = [];

  constructor(seed: number, options: LifeOptions) {
    this.#seed = seed;
    this.#scene = new LifeScene(seed, options);
    this.#plan = planOfLife(seed, options);
  }

  /** Members with other knobs are told as advice when their processes have run for an hour, one after the other. */
  async #haveOtherKnobs(): Promise<boolean> {
    const { members } = this.#scene.shape;
    const found = await Promise.all(members.map(({ name }) => this.#scene.cluster(name)));
    const knobs = found.map(({ spec }) =>
      Object.entries(spec.processes ?? {}).map(([key, { customParameters }]) => [
        key,
        customParameters,
      ]),
    );
    return new Set(knobs.map((each) => JSON.stringify(each))).size > 1;
  }

  async run(): Promise<void> {
    const { world, shape, links, rival } = this.#scene;
    await this.#scene.during(world.started, "the start of the world");
    rival?.start();
    await createCertificates(world.client, namespace);
    await this.#comeUp();
    await this.#scene.openBank();
    await this.#scene.advance(2 * minuteMs);
    if (this.#scene.backups !== undefined) await this.#beginBackups(this.#scene.backups);
    links.lag.lagMs = shape.lagMs;
    for (const [index, step] of this.#plan.entries()) await this.#step(step, index);
    await this.#makePeace();
    await this.#comeToRest();
    const { backups } = this.#scene;
    if (backups !== undefined) await proveBackups(this.#scene, backups);
    const toEndMs = this.#scene.endedMs - this.#scene.clock.nowMs();
    const toTellMs = (await this.#haveOtherKnobs()) ? adviceMs : 0;
    // What went elsewhere counts as lost for ten minutes from the first look without it.
    await this.#scene.advance(Math.max(12 * minuteMs, toEndMs, toTellMs));
    await this.#scene.untilAtRest(10 * minuteMs, "the cluster stays at rest");
    const restsSinceMs = this.#scene.clock.nowMs();
    this.#scene.bank?.takeMoved();
    await this.#scene.advance(10 * minuteMs);
    if (this.#scene.bank?.takeMoved() === false) throw new Error("the bank cannot move money");
    const writes = this.#scene.writesSince(restsSinceMs);
    if (writes.length > 0) throw new Error(`writes at rest: ${writes.join(", ")}`);
    this.#checkDatabase();
  }

  /** The second cluster and a first backup, which everything may happen to. */
  async #beginBackups(backups: BackupScene): Promise<void> {
    this.#scene.random = keyedRandom(this.#seed, "first backup");
    await backups.begin();
    await backupAct(this.#scene, "a backup");
  }

  /** The first resource alone, then those that join its database, then all as they should be together. */
  async #comeUp(): Promise<void> {
    const scene = this.#scene;
    const [first, ...others] = scene.shape.members;
    await this.#create(first);
    if (others.length === 0) return scene.untilAtRest(10 * minuteMs, "the cluster comes up");
    const isChosen = async (): Promise<boolean> => {
      const { status } = await scene.cluster(first.name);
      return first.grown === undefined
        ? status?.connectionString !== undefined
        : status?.generations?.reconciled !== undefined;
    };
    await scene.until(isChosen, 10 * minuteMs, "the first cluster comes up");
    const seedConnectionString = (await scene.cluster(first.name)).status?.connectionString ?? "";
    for (const other of others) await this.#create(other, { seedConnectionString });
    if (first.grown !== undefined) {
      await scene.advance(2 * minuteMs);
      await scene.patch(first.name, first.grown);
    }
    await scene.untilAtRest(30 * minuteMs, "the clusters come up together");
  }

  async #create(member: LifeMember, more: Partial<ClusterSpec> = {}): Promise<void> {
    const cluster: Stored<FoundationDBCluster> = {
      apiVersion,
      kind: "FoundationDBCluster",
      metadata: { name: member.name, namespace },
      spec: { ...member.spec, ...more },
    };
    await this.#scene.world.client.create(foundationDbClusters, cluster);
  }

  async #step({ act, random, pauseMs, isLeftOut, faults }: LifeStep, index: number): Promise<void> {
    await this.#endFaults(index);
    for (const fault of faults) await this.#beginFault(fault, index);
    this.#scene.random = random;
    if (!isLeftOut) await lifeActs[act](this.#scene);
    await this.#scene.advance(pauseMs);
  }

  async #beginFault({ name, random, steps }: PlannedFault, index: number): Promise<void> {
    if (this.#ongoing.some((other) => other.name === name)) return;
    this.#scene.random = random;
    const all: Readonly<Record<string, LifeFault>> = { ...lifeFaults, ...backupFaults };
    const beginning = all[name]?.(this.#scene) ?? Promise.resolve(undefined);
    const begun = await this.#scene.during(beginning, name);
    if (begun === undefined) return;
    this.#scene.note(`fault: ${name} ${begun.told}`);
    const { end } = begun;
    if (end === undefined) return;
    this.#ongoing = [...this.#ongoing, { name, end, untilStep: index + steps }];
  }

  /** Of those that are over by then. */
  async #endFaults(step: number): Promise<void> {
    const isOver = ({ untilStep }: OngoingFault): boolean => untilStep <= step;
    const over = this.#ongoing.filter(isOver);
    this.#ongoing = this.#ongoing.filter((fault) => !isOver(fault));
    for (const { name, end } of over) {
      await this.#scene.during(end(), `the end of ${name}`);
      this.#scene.note(`no more: ${name}`);
    }
  }

  /** Everything that would not pass by itself is taken back. */
  async #makePeace(): Promise<void> {
    const { watchman, chaos, versions, shape, links, backups } = this.#scene;
    this.#scene.note("peace");
    watchman.noteDisturbance();
    await this.#endFaults(Infinity);
    await this.#scene.during(chaos.heal(), "healing");
    await humanAct(this.#scene, "include");
    // What comes back and is not found again can only be replaced. A version that may run already is not left.
    const version = newestVersion([...versions, shape.members[0].spec.version]);
    const replacements = { enabled: true };
    await this.#scene.patchAll({ version, automationOptions: { replacements } });
    links.lag.lagMs = 0;
    if (backups !== undefined) await makeBackupPeace(this.#scene, backups);
  }

  /** With a person who looks after it when it takes long. */
  async #comeToRest(): Promise<void> {
    const { backups } = this.#scene;
    const lookMs = (backups === undefined ? 20 : 5) * minuteMs;
    const untilMs = this.#scene.clock.nowMs() + 180 * minuteMs;
    while (!(await this.#scene.isAtRestWithin(lookMs))) {
      if (this.#scene.clock.nowMs() >= untilMs) break;
      await followRemedies(this.#scene);
      if (backups !== undefined) await followBackupRemedies(this.#scene, backups);
    }
    await this.#scene.untilAtRest(0, "the cluster comes to rest in 180 minutes");
  }

  result(): LifeResult {
    const { shape, events, trace, clock, startMs, watchman, bank } = this.#scene;
    return {
      ...{ seed: this.#seed, shape, events, lastLines: trace.lines(), hash: trace.hash() },
      virtualMinutes: Math.round((clock.nowMs() - startMs) / minuteMs),
      ...{ stalls: watchman.stalls.sums, transfers: bank?.transfers ?? 0 },
    };
  }

  async close(): Promise<void> {
    const { world, rival } = this.#scene;
    const ends = [rival?.stop() ?? Promise.resolve(), world.stop()];
    await this.#scene.during(Promise.all(ends), "the end of the world");
  }

  #checkDatabase(): void {
    const { truth } = this.#scene.world.fdb;
    const isCounted = ({ isConfigured, description }: DatabaseTruth): boolean =>
      isConfigured && (this.#scene.backups === undefined || description !== copyName);
    const found = truth.databases().filter(isCounted);
    if (found.length !== 1) throw new Error(`${found.length} databases`);
    for (const database of found) {
      const isWell = database.isAvailable && !database.areLogsLost && !database.isForgotten;
      if (!isWell) throw new Error("the database is not well");
    }
  }
}
