// The walk of a life: a reconciled cluster drawn from a seed, twenty random things that happen to it (wishes of its
// owner, troubles, acts of people, deaths of the operator), then peace. Rules: spec/world.md [W66]-[W69].
import { apiVersion, foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../api/cluster.ts";
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import type { RequestRecord } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { Stored } from "../../kube/resource.ts";
import { Chaos } from "../faults/chaos.ts";
import type { Trouble } from "../faults/chaos.ts";
import { OperatorLinks } from "../faults/operator-links.ts";
import { createCertificates } from "../sample-certificates.ts";
import { skewedClock } from "../skewed-clock.ts";
import type { SkewedClock } from "../skewed-clock.ts";
import { Trace } from "../trace.ts";
import { VirtualClock } from "../virtual-clock.ts";
import { startWorld } from "../world.ts";
import type { World, WorldOptions } from "../world.ts";
import { actAsHuman, humanActs, takeForeignLock } from "./human-acts.ts";
import { lifeShapeOf } from "./life-shape.ts";
import type { LifeMember, LifeShape } from "./life-shape.ts";
import { absurdSpecs, isWishOfAll, makeWish, newestVersion } from "./spec-changes.ts";
import { takenBack, wishNames } from "./spec-changes.ts";
import { Watchman } from "./watchman.ts";

export interface LifeOptions {
  steps?: number;
  disabledChecks?: WorldOptions["disabledChecks"];
  /** Gets every line of the history. */
  onLine?: (line: string) => void;
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
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const namespace = "default";

const peacefulTroubles: readonly Trouble[] = [
  "bad road",
  "good road",
  "slow database",
  "quick database",
  "compact history",
  "restart operator",
];

const podTroubles: readonly Trouble[] = [
  "delete pod",
  "delete several pods",
  "kill pod without grace",
  "evict pod",
  "crash processes",
  "stop node",
  "start node",
  "remove node",
  "cut network",
  "heal network",
  "lose volume claim",
  "delete claims in use",
  "cordon node",
  "uncordon nodes",
];

/** How the life of a seed begins. */
export function shapeOfSeed(seed: number): LifeShape {
  return lifeShapeOf(keyedRandom(seed, "life"));
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

class LifeWalk {
  readonly #seed: number;
  readonly #options: LifeOptions;
  readonly #random: Random;
  readonly #shape: LifeShape;
  readonly #clock = new VirtualClock();
  readonly #trace: Trace;
  readonly #watchman = new Watchman();
  readonly #requests: RequestRecord[] = [];
  readonly #events: string[] = [];
  readonly #world: World;
  readonly #chaos: Chaos;
  readonly #startMs = this.#clock.nowMs();
  readonly #links: OperatorLinks;
  readonly #operatorClock: SkewedClock;
  #lastWish: { names: readonly string[]; back: object } | undefined;
  /** All that were ever wished for. */
  readonly #versions: string[] = [];

  constructor(seed: number, options: LifeOptions) {
    this.#seed = seed;
    this.#options = options;
    const random = keyedRandom(seed, "life");
    this.#random = random;
    this.#shape = lifeShapeOf(random);
    this.#links = new OperatorLinks(this.#clock, random);
    this.#operatorClock = skewedClock(this.#clock, {
      offsetMs: randomPick(random, [0, 0, 0, 10_000, -10_000, hourMs, -hourMs]),
      driftMsPerHour: 0,
    });
    this.#trace = new Trace({
      clock: this.#clock,
      keepLines: 300,
      onLine: (line) => {
        // The server may refuse a pass its writes; anything else that ends one is a mistake of ours.
        if (/ a pass failed /.test(line) && !line.includes('"stack":"KubeError')) {
          this.#watchman.violations.push(line);
        }
        options.onLine?.(line);
      },
    });
    const { nodes, zones } = this.#shape;
    const busyPollMs = randomPick(random, [1_000, 2_000, 5_000]);
    this.#world = startWorld({
      ...{ clock: this.#clock, seed, trace: this.#trace, nodes, zones },
      nodeCapacity: { cpu: "8", memory: "32Gi", pods: "100" },
      disabledChecks: options.disabledChecks,
      operatorClock: this.#operatorClock,
      operator: { busyPollMs },
      wrapTransport: (transport) => this.#links.wrapTransport(this.#watchman.inspect(transport)),
      wrapAdmin: (admin) => this.#links.wrapAdmin(this.#watchman.inspectCommands(admin)),
      onRequest: (record) => this.#requests.push(record),
    });
    this.#chaos = new Chaos({
      world: this.#world,
      random,
      labelKey: "foundationdb.org/fdb-cluster-name",
      links: this.#links,
    });
    this.#watchman.watch(
      this.#world,
      () => this.#chaos.isOngoing,
      this.#shape.kind.endsWith(" halls"),
    );
  }

  async run(): Promise<void> {
    await this.#during(this.#world.started, "the start of the world");
    await createCertificates(this.#world.client, namespace);
    await this.#comeUp();
    await this.#advance(2 * minuteMs);
    this.#links.lag.lagMs = this.#shape.lagMs;
    const { steps = 20 } = this.#options;
    for (let step = 0; step < steps; step += 1) await this.#step();
    this.#note("peace");
    this.#watchman.noteDisturbance();
    await this.#during(this.#chaos.heal(), "healing");
    await this.#humanAct("include");
    // What comes back and is not found again can only be replaced. A version that may run already is not left.
    const version = newestVersion([...this.#versions, this.#shape.members[0].spec.version]);
    const replacements = { enabled: true };
    await this.#patchAll({ version, automationOptions: { replacements } });
    this.#links.lag.lagMs = 0;
    await this.#untilAtRest(180 * minuteMs, "the cluster comes to rest");
    await this.#advance(10 * minuteMs);
    await this.#untilAtRest(10 * minuteMs, "the cluster stays at rest");
    const mark = this.#requests.length;
    await this.#advance(10 * minuteMs);
    this.#checkSilence(mark);
    this.#checkDatabase();
  }

  /** The first resource alone, then those that join its database, then all as they should be together. */
  async #comeUp(): Promise<void> {
    const [first, ...others] = this.#shape.members;
    await this.#create(first);
    if (others.length === 0) return this.#untilAtRest(10 * minuteMs, "the cluster comes up");
    const isChosen = async (): Promise<boolean> => {
      const { status } = await this.#cluster(first.name);
      return first.grown === undefined
        ? status?.connectionString !== undefined
        : status?.generations?.reconciled !== undefined;
    };
    await this.#until(isChosen, 10 * minuteMs, "the first cluster comes up");
    const seedConnectionString = (await this.#cluster(first.name)).status?.connectionString ?? "";
    for (const other of others) await this.#create(other, { seedConnectionString });
    if (first.grown !== undefined) {
      await this.#advance(2 * minuteMs);
      await this.#patch(first.name, first.grown);
    }
    await this.#untilAtRest(30 * minuteMs, "the clusters come up together");
  }

  async #create(member: LifeMember, more: Partial<ClusterSpec> = {}): Promise<void> {
    const cluster: Stored<FoundationDBCluster> = {
      apiVersion,
      kind: "FoundationDBCluster",
      metadata: { name: member.name, namespace },
      spec: { ...member.spec, ...more },
    };
    await this.#world.client.create(foundationDbClusters, cluster);
  }

  async #patch(name: string, spec: object): Promise<void> {
    const key = { namespace, name };
    await this.#world.client.patch(foundationDbClusters, key, { spec }, { type: "merge" });
  }

  async #patchAll(spec: object): Promise<void> {
    for (const { name } of this.#shape.members) await this.#patch(name, spec);
  }

  result(): LifeResult {
    return {
      seed: this.#seed,
      shape: this.#shape,
      events: this.#events,
      lastLines: this.#trace.lines(),
      hash: this.#trace.hash(),
      virtualMinutes: Math.round((this.#clock.nowMs() - this.#startMs) / minuteMs),
    };
  }

  async close(): Promise<void> {
    await this.#during(this.#world.stop(), "the end of the world");
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const chance = random.next();
    if (chance < 0.5) await this.#wish();
    else if (chance < 0.65) await this.#crash();
    else if (chance < 0.72) await this.#humanAct(randomPick(random, humanActs));
    else if (chance < 0.78) await this.#foreignLock();
    else if (chance < 0.82) await this.#takeBack();
    else if (chance < 0.84) await this.#absurdWish();
    else if (chance < 0.86) this.#stepClock();
    else if (chance < 0.88) await this.#badKnob();
    else await this.#trouble();
    await this.#advance(randomPick(random, [1_000, 10_000, 30_000, 90_000, 240_000]));
  }

  async #wish(): Promise<void> {
    const { name } = randomPick(this.#random, this.#shape.members);
    const cluster = await this.#cluster(name);
    const groups = cluster.status?.processGroups ?? [];
    const wish = randomPick(this.#random, wishNames);
    const change = makeWish(wish, {
      random: this.#random,
      name,
      spec: cluster.spec,
      shape: this.#shape,
      processGroupIds: groups
        .filter((group) => group.removalTimestamp === undefined)
        .map((group) => group.processGroupID),
    });
    const isOfAll = isWishOfAll(wish);
    this.#note(`wish: ${wish}${isOfAll ? "" : ` of ${name}`} ${JSON.stringify(change)}`);
    const names = isOfAll ? this.#shape.members.map((member) => member.name) : [name];
    this.#lastWish = { names, back: takenBack(change, cluster.spec) };
    if ("version" in change) this.#versions.push(String(change.version));
    for (const each of names) await this.#patch(each, change);
  }

  /** A wish is taken back at any moment of its being carried out, often at once. */
  async #takeBack(): Promise<void> {
    if (this.#random.next() < 0.7) {
      await this.#wish();
      await this.#advance(randomPick(this.#random, [0, 200, 2_000, 8_000, 20_000, 60_000]));
    }
    if (this.#lastWish === undefined) return;
    const { names, back } = this.#lastWish;
    this.#note(`taken back: ${JSON.stringify(back)}`);
    for (const name of names) await this.#patch(name, back);
    this.#lastWish = undefined;
  }

  /** Somebody sets the clock of the operator's machine forward. */
  #stepClock(): void {
    const byMs = randomPick(this.#random, [10_000, 10 * minuteMs, hourMs]);
    this.#note(`the operator's clock is set forward by ${byMs / 1000} s`);
    this.#operatorClock.step(byMs);
  }

  /** The server refuses it, or the operator does; both leave what runs alone, and it is taken back. */
  async #absurdWish(): Promise<void> {
    const { name } = randomPick(this.#random, this.#shape.members);
    const { spec } = await this.#cluster(name);
    const change = randomPick(this.#random, absurdSpecs);
    const isRefused = await this.#patch(name, change).then(
      () => false,
      (error: unknown) => {
        if (isKubeError(error, "Invalid")) return true;
        throw error;
      },
    );
    this.#note(`absurd: ${JSON.stringify(change)} ${isRefused ? "refused" : "stored"}`);
    if (isRefused) return;
    await this.#advance(randomPick(this.#random, [1_000, 30_000, 120_000]));
    await this.#patch(name, takenBack(change, spec));
  }

  /** Whatever starts with it ends at once, so it is corrected after a while. */
  async #badKnob(): Promise<void> {
    const { name } = randomPick(this.#random, this.#shape.members);
    const { spec, status } = await this.#cluster(name);
    // Nobody can try it alone there, nor while all processes change to another version together.
    const isSingle = spec.databaseConfiguration?.redundancy_mode === "single";
    if (isSingle || status?.runningVersion !== spec.version) return;
    const value = randomInteger(this.#random, 1, 9);
    const change = parameters(`knob_max_trace_lines=${value}`, "knob_cache_eviction_policy=fifo");
    this.#note(`a knob that ends fdbserver, of ${name}`);
    await this.#patch(name, change);
    await this.#advance(randomPick(this.#random, [5_000, 30_000, 240_000, 900_000]));
    const isCorrected = this.#random.next() < 0.5;
    const back = isCorrected
      ? parameters(`knob_max_trace_lines=${value}`, "knob_cache_eviction_policy=lru")
      : takenBack(change, spec);
    this.#note(`the knob is ${isCorrected ? "corrected" : "taken back"}`);
    await this.#patch(name, back);
  }

  /** The operator dies at one of its next writes, and another takes its place. */
  async #crash(): Promise<void> {
    const moment = randomPick(this.#random, ["before", "after"] as const);
    const write = randomInteger(this.#random, 1, 40);
    const { life } = this.#links;
    life.dieAt({ write, moment });
    // A cluster at rest has nothing to write, so something is asked for first.
    await this.#wish();
    const untilMs = this.#clock.nowMs() + 2 * minuteMs;
    while (!life.isDead && this.#clock.nowMs() < untilMs) {
      const stepMs = this.#clock.nowMs() + 5_000;
      await this.#clock.run({ until: () => life.isDead, untilMs: Math.min(stepMs, untilMs) });
      this.#watchman.look();
    }
    const how = life.isDead ? `${moment} write ${write}` : "between writes";
    this.#note(`the operator dies ${how}`);
    life.die();
    await this.#during(this.#world.stopOperator(), "the end of the operator");
    await this.#advance(randomPick(this.#random, [0, 1_000, 20_000]));
    this.#world.startOperator();
  }

  /** Only with locks in use does the operator ask whose turn it is. */
  async #foreignLock(): Promise<void> {
    const { spec } = await this.#cluster();
    if (spec.lockOptions?.disableLocks !== false) return;
    const admin = await this.#openAdmin();
    const durationMs = randomPick(this.#random, [30_000, 120_000, 300_000]);
    const taking = takeForeignLock(admin, this.#clock, durationMs);
    const untilMs = await this.#during(taking, "somebody else's lock");
    admin.close();
    if (untilMs !== undefined) this.#watchman.foreignLockUntilMs = untilMs;
    this.#note(`an operator elsewhere ${untilMs === undefined ? "gets no lock" : "has the lock"}`);
    await this.#wish();
  }

  async #openAdmin(): Promise<AdminClient> {
    const { status, spec } = await this.#cluster();
    return this.#world.fdb.admin.open({
      name: "person",
      connectionString: status?.connectionString ?? "",
      version: status?.runningVersion ?? spec.version,
    });
  }

  async #humanAct(act: (typeof humanActs)[number]): Promise<void> {
    if (act === "coordinators" && !this.#shape.isCalm) return;
    const admin = await this.#openAdmin();
    this.#watchman.noteDisturbance();
    const done = await this.#during(actAsHuman(act, admin, this.#random), "a person's act");
    admin.close();
    this.#note(`person: ${act} ${done}`);
  }

  async #trouble(): Promise<void> {
    const kinds = this.#shape.isCalm ? peacefulTroubles : [...peacefulTroubles, ...podTroubles];
    const trouble = randomPick(this.#random, kinds);
    if (podTroubles.includes(trouble)) this.#watchman.noteDisturbance();
    const hit = await this.#during(this.#chaos.make(trouble), trouble);
    this.#note(`trouble: ${trouble} ${hit}`);
  }

  #note(text: string): void {
    const seconds = (this.#clock.nowMs() - this.#startMs) / 1000;
    this.#events.push(`${seconds} s ${text}`);
    this.#trace.append("walk", text);
  }

  #cluster(name = this.#shape.members[0].name): Promise<Stored<FoundationDBCluster>> {
    return this.#world.client.get(foundationDbClusters, { namespace, name });
  }

  /** Time passes under the eyes of the watchman. */
  async #advance(ms: number): Promise<void> {
    const untilMs = this.#clock.nowMs() + ms;
    while (this.#clock.nowMs() < untilMs) {
      await this.#clock.advance(Math.min(5_000, untilMs - this.#clock.nowMs()));
      this.#watchman.look();
      const [violation] = this.#watchman.violations;
      if (violation !== undefined) throw new Error(violation);
    }
  }

  #untilAtRest(limitMs: number, what: string): Promise<void> {
    return this.#until(() => this.#areAllAtRest(), limitMs, what);
  }

  async #until(condition: () => Promise<boolean>, limitMs: number, what: string): Promise<void> {
    const startMs = this.#clock.nowMs();
    while (!(await condition())) {
      if (this.#clock.nowMs() - startMs >= limitMs) {
        throw new Error(`not within ${limitMs / minuteMs} minutes: ${what}\n${await this.#why()}`);
      }
      await this.#advance(5_000);
    }
  }

  async #areAllAtRest(): Promise<boolean> {
    for (const { name } of this.#shape.members) {
      if (!isAtRest(await this.#cluster(name))) return false;
    }
    return true;
  }

  async #why(): Promise<string> {
    const lines: string[] = [];
    for (const { name } of this.#shape.members) lines.push(whyNot(await this.#cluster(name)));
    return lines.join("\n");
  }

  #checkSilence(mark: number): void {
    const writes = this.#requests
      .slice(mark)
      .filter(({ verb }) => !["get", "list", "watch"].includes(verb))
      .map(({ verb, resource, name: object }) => `${verb} ${resource.plural} ${object ?? ""}`);
    if (writes.length > 0) throw new Error(`writes at rest: ${writes.join(", ")}`);
  }

  #checkDatabase(): void {
    const found = this.#world.fdb.truth.databases().filter(({ isConfigured }) => isConfigured);
    if (found.length !== 1) throw new Error(`${found.length} databases`);
    for (const database of found) {
      const isWell = database.isAvailable && !database.areLogsLost && !database.isForgotten;
      if (!isWell) throw new Error("the database is not well");
    }
  }

  async #during<T>(promise: Promise<T>, what: string): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    promise.then(done, done);
    const untilMs = this.#clock.nowMs() + 10 * minuteMs;
    await this.#clock.run({ until: () => isDone, untilMs });
    if (!isDone) throw new Error(`it takes too long: ${what}`);
    return promise;
  }
}

function isAtRest({ metadata, status }: FoundationDBCluster): boolean {
  return (
    status?.generations?.reconciled === metadata.generation &&
    status?.health?.available === true &&
    (status.processGroups ?? []).every((group) => group.removalTimestamp === undefined)
  );
}

function whyNot({ metadata, status }: FoundationDBCluster): string {
  const waits = (status?.blockedBy ?? []).map(
    ({ step, reason, message }) => `  ${step}: ${reason}: ${message}`,
  );
  const groups = (status?.processGroups ?? []).flatMap((group) => {
    const conditions = (group.processGroupConditions ?? []).map(({ type }) => type);
    const marks = [...(group.removalTimestamp === undefined ? [] : ["leaving"]), ...conditions];
    return marks.length === 0 ? [] : [`  ${group.processGroupID}: ${marks.join(" ")}`];
  });
  return [`${metadata.name} ${JSON.stringify(status?.generations)}`, ...waits, ...groups].join(
    "\n",
  );
}

function parameters(...customParameters: string[]): object {
  return { processes: { general: { customParameters } } };
}
