// The world in which a life takes place, with everything that stands around the operator in it: a virtual clock, the
// history, the faults, the watchman, and how time passes under his eyes. Rules: spec/world.md [W66]-[W69].
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ClusterSpec, FoundationDBCluster } from "../../api/cluster.ts";
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import type { RequestRecord } from "../../kube/client.ts";
import type { Stored } from "../../kube/resource.ts";
import { Chaos } from "../faults/chaos.ts";
import { OperatorFaults } from "../faults/operator-faults.ts";
import { OperatorLinks } from "../faults/operator-links.ts";
import { skewedClock } from "../skewed-clock.ts";
import type { SkewedClock } from "../skewed-clock.ts";
import { Trace } from "../trace.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { operatorNameOf } from "../../operate/overlap.ts";
import { operatorSeat } from "../operator-seat.ts";
import type { OperatorSeat } from "../operator-seat.ts";
import { traceLog } from "../trace-log.ts";
import { startWorld } from "../world.ts";
import type { World, WorldOptions } from "../world.ts";
import { Bank } from "./bank.ts";
import { withHabits } from "./life-habits.ts";
import { backupShapeOf, lifeShapeOf, withWindows } from "./life-shape.ts";
import type { LifeShape } from "./life-shape.ts";
import { backupUnrest } from "./backups/backup-rest.ts";
import { BackupScene } from "./backups/backup-scene.ts";
import { isOfBackups } from "./backups/backup-writes.ts";
import { Disturbances } from "./disturbances.ts";
import { copyName, hourMs, minuteMs, namespace } from "./life-terms.ts";
import { LookWatch } from "./look-watch.ts";
import { Watchman } from "./watchman.ts";

export interface SceneOptions {
  checks?: WorldOptions["checks"];
  /** Gets every line of the history. */
  onLine?: (line: string) => void;
  /** Whether there are backups and restores in it. */
  backups?: boolean;
}

type LayoutOnDisks = Pick<
  ClusterSpec,
  "imageType" | "storageServersPerPod" | "logServersPerPod"
> & { readonly processGroupIDPrefix: string | null };

/** Of a life in which two instances of the operator share a Lease. */
const rivalChance = 0.3;
/** Of those without another instance: how often another installation looks after the same clusters. */
const overlapChance = 0.1;

/** How the life of a seed begins. */
export function shapeOfSeed(seed: number, backups = false): LifeShape {
  const random = keyedRandom(seed, "life");
  if (backups) return backupShapeOf(random);
  return withHabits(withWindows(lifeShapeOf(random), keyedRandom(seed, "windows")), seed);
}

/** Within a life, as within the twelve hours of a real process. */
const timings = { certificateRefreshMs: 5 * minuteMs };

export class LifeScene {
  /** Of the step that is under way; each step draws from its own. */
  random: Random;
  readonly shape: LifeShape;
  readonly clock = new VirtualClock();
  readonly startMs = this.clock.nowMs();
  readonly trace: Trace;
  readonly watchman = new Watchman();
  readonly requests: (RequestRecord & { atMs: number })[] = [];
  /** What happened to the cluster, in order. */
  readonly events: string[] = [];
  readonly world: World;
  readonly chaos: Chaos;
  readonly links: OperatorLinks;
  readonly faults: OperatorFaults;
  readonly operatorClock: SkewedClock;
  readonly disturbances = new Disturbances();
  /** Nothing is left but the disks, and the database is not back yet. */
  isLost = false;
  /** Fields of the spec that said where and whose the data is when everything but the disks was lost. */
  layoutOnDisks: LayoutOnDisks | undefined;
  /** Headless services that somebody deleted: without them no coordinator is found by its name. */
  readonly lostServices = new Set<string>();
  /** By then all that takes a known time has ended, and what the operator tells of it is written. */
  endedMs = 0;
  /** Another installation looks after the same clusters. */
  readonly isOverlapped: boolean;
  /** Another instance of the operator, which works when the first one does not hold the Lease, or another installation. */
  readonly rival: OperatorSeat | undefined;
  readonly #looks = new LookWatch();
  lastWish: { names: readonly string[]; back: object } | undefined;
  /** All that were ever wished for. */
  readonly versions: string[] = [];
  /** In a life with backups. */
  readonly backups: BackupScene | undefined;
  /** Uses the database all the time, from when it is there. Applications of a life with backups write by themselves. */
  bank: Bank | undefined;
  readonly #seed: number;

  constructor(seed: number, options: SceneOptions) {
    const random = keyedRandom(seed, "scene");
    this.#seed = seed;
    this.random = random;
    this.shape = shapeOfSeed(seed, options.backups);
    this.links = new OperatorLinks(this.clock, keyedRandom(seed, "links"));
    this.operatorClock = skewedClock(this.clock, {
      offsetMs: randomPick(random, [0, 0, 0, 10_000, -10_000, hourMs, -hourMs]),
      driftMsPerHour: 0,
    });
    this.trace = new Trace({
      clock: this.clock,
      keepLines: 300,
      onLine: (line) => {
        this.#hear(line);
        options.onLine?.(line);
      },
    });
    this.faults = new OperatorFaults({
      clock: this.clock,
      random: (part) => keyedRandom(seed, part),
      server: () => this.world.server,
      onExcess: (text) => this.watchman.violations.push(text),
    });
    const company = companyOf(seed);
    this.isOverlapped = company === "installation";
    const { nodes, zones } = this.shape;
    const busyPollMs = randomPick(random, [1_000, 2_000, 5_000]);
    this.world = startWorld({
      ...{ clock: this.clock, seed, trace: this.trace, nodes, zones },
      database: { timings, onTool: (...tool) => this.backups?.watch.noteTool(...tool) },
      nodeCapacity: { cpu: "8", memory: "32Gi", pods: "100" },
      checks: options.checks,
      ...(company === "instance" ? { instance: "first" } : {}),
      operatorClock: this.faults.suspension.clock(this.operatorClock),
      operator: { busyPollMs, ...nameIn(company, "first") },
      wrapTransport: (transport) => {
        const inspected = this.watchman.inspect(this.faults.atDoor(transport));
        return this.faults.transport(this.links.wrapTransport(inspected));
      },
      wrapAdmin: (admin) => {
        const inspected = this.watchman.inspectCommands(admin);
        return this.faults.admin(this.links.wrapAdmin(inspected));
      },
      wrapNetwork: (network) => this.faults.network(network),
      onRequest: (record) => this.requests.push({ ...record, atMs: this.clock.nowMs() }),
    });
    if (company !== undefined) this.rival = rivalOf(this, seed, options, company, busyPollMs);
    const { context } = this.world.server;
    context.authorize = (asked) =>
      asked.userName !== "fdb-operator" || this.faults.rights.isAllowed(asked);
    const clusterNames = this.shape.members.map(({ name }) => name);
    this.chaos = new Chaos({
      ...(options.backups === true ? { clusterNames } : {}),
      world: this.world,
      random: { next: () => this.random.next() },
      labelKey: "foundationdb.org/fdb-cluster-name",
      links: this.links,
    });
    this.watchman.watch(
      this.world,
      () => this.#isDisturbed(),
      this.shape.kind.endsWith(" halls"),
      options.backups === true ? copyName : undefined,
    );
    context.store.subscribe("/services", ({ name }) => void this.lostServices.delete(name));
    this.watchman.windows.times = () => [this.operatorClock.nowMs(), this.clock.nowMs()];
    if (options.backups === true) this.backups = new BackupScene(this, seed);
  }

  /** Something goes on that is not the operator's and that the database may feel. */
  #isDisturbed(): boolean {
    const { chaos, disturbances, isLost, lostServices } = this;
    return chaos.isOngoing || disturbances.areOngoing || isLost || lostServices.size > 0;
  }

  #hear(line: string): void {
    // The server may refuse a pass its writes; anything else that ends one is a mistake of ours.
    if (/ a pass failed /.test(line) && !line.includes('"stack":"KubeError')) {
      this.watchman.violations.push(line);
    }
    this.backups?.watch.checkLine(line);
  }

  note(text: string): void {
    const seconds = (this.clock.nowMs() - this.startMs) / 1000;
    this.events.push(`${seconds} s ${text}`);
    this.trace.append("walk", text);
  }

  cluster(name = this.shape.members[0].name): Promise<Stored<FoundationDBCluster>> {
    return this.world.client.get(foundationDbClusters, { namespace, name });
  }

  async patch(name: string, spec: object): Promise<void> {
    const key = { namespace, name };
    await this.world.client.patch(foundationDbClusters, key, { spec }, { type: "merge" });
  }

  async patchAll(spec: object): Promise<void> {
    for (const { name } of this.shape.members) await this.patch(name, spec);
  }

  endsBy(ms: number): void {
    this.endedMs = Math.max(this.endedMs, ms);
  }

  async openAdmin(name?: string): Promise<AdminClient> {
    const { status, spec } = await this.cluster(name);
    return this.world.fdb.admin.open({
      name: "person",
      connectionString: status?.connectionString ?? "",
      version: status?.runningVersion ?? spec.version,
    });
  }

  /**
   * What the operator has asked the API server to write since then. A backup that runs is looked after: its figures, its map
   * of times, its retention and its schedule are left out.
   */
  writesSince(ms: number): string[] {
    return this.requests
      .filter(({ verb, atMs }) => atMs >= ms && !["get", "list", "watch"].includes(verb))
      .map(({ verb, resource, name: object }) => `${verb} ${resource.plural} ${object ?? ""}`)
      .filter((write) => this.backups === undefined || !isOfBackups(write))
      .filter((write) => !this.isOverlapped || !isOfOverlap(write));
  }

  /** The bank opens; its own generators leave the rest of the life as it would be without it. */
  async openBank(): Promise<void> {
    if (this.backups !== undefined) return;
    const { status } = await this.cluster();
    const transact = this.world.fdb.application(
      status?.connectionString ?? "",
      keyedRandom(this.#seed, "bank's commits"),
    );
    if (transact === undefined) throw new Error("the bank finds no database");
    const violated = (text: string): void => this.watchman.note(text);
    this.bank = new Bank({ transact, random: keyedRandom(this.#seed, "bank"), violated });
  }

  /** Time passes under the eyes of the watchman. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.clock.nowMs() + ms;
    while (this.clock.nowMs() < untilMs) {
      await this.clock.advance(Math.min(5_000, untilMs - this.clock.nowMs()));
      this.watchman.look();
      this.#noteReturn();
      this.bank?.move();
      this.#countLooks();
      await this.backups?.look();
      const [violation] = this.watchman.violations;
      if (violation !== undefined) throw new Error(violation);
    }
  }

  #noteReturn(): void {
    if (!this.isLost) return;
    const found = this.world.fdb.truth.outlines().filter(({ isConfigured }) => isConfigured);
    this.isLost = !found.some(({ isAvailable }) => isAvailable);
  }

  #countLooks(): void {
    const { looks } = this.world.operator.counters();
    const problem = this.#looks.note({ atMs: this.clock.nowMs(), looks });
    if (problem !== undefined) this.watchman.violations.push(problem);
  }

  async isAtRestWithin(limitMs: number): Promise<boolean> {
    const untilMs = this.clock.nowMs() + limitMs;
    while (!(await this.#areAllAtRest())) {
      if (this.clock.nowMs() >= untilMs) return false;
      await this.advance(5_000);
    }
    return true;
  }

  untilAtRest(limitMs: number, what: string): Promise<void> {
    return this.until(() => this.#areAllAtRest(), limitMs, what);
  }

  async until(condition: () => Promise<boolean>, limitMs: number, what: string): Promise<void> {
    const startMs = this.clock.nowMs();
    while (!(await condition())) {
      if (this.clock.nowMs() - startMs >= limitMs) {
        throw new Error(`not within ${limitMs / minuteMs} minutes: ${what}\n${await this.#why()}`);
      }
      await this.advance(5_000);
    }
  }

  /** Time passes until it is done. */
  async during<T>(promise: Promise<T>, what: string): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    promise.then(done, done);
    const untilMs = this.clock.nowMs() + 10 * minuteMs;
    await this.clock.run({ until: () => isDone, untilMs });
    if (!isDone) throw new Error(`it takes too long: ${what}`);
    return promise;
  }

  async #areAllAtRest(): Promise<boolean> {
    for (const { name } of this.shape.members) {
      if (!isAtRest(await this.cluster(name))) return false;
    }
    return (await this.#backupUnrest()).length === 0;
  }

  async #backupUnrest(): Promise<string[]> {
    return this.backups === undefined ? [] : backupUnrest(this, this.backups);
  }

  async #why(): Promise<string> {
    const lines: string[] = [];
    for (const { name } of this.shape.members) lines.push(whyNot(await this.cluster(name)));
    return [...lines, ...(await this.#backupUnrest())].join("\n");
  }
}

/** It has no faults of its own: when the first one stands still or is not heard, it takes over. */
function rivalOf(
  { world, watchman, clock, trace, requests }: LifeScene,
  seed: number,
  { checks }: SceneOptions,
  company: Company,
  busyPollMs: number,
): OperatorSeat {
  const { server, network, fdb } = world;
  const operator = { busyPollMs, ...nameIn(company, "second") };
  return operatorSeat(
    {
      ...{ checks, operator, ...(company === "instance" ? { instance: "rival" } : {}) },
      wrapTransport: (transport) => watchman.inspect(transport),
      wrapAdmin: (admin) => watchman.inspectCommands(admin),
      onRequest: (record) => requests.push({ ...record, atMs: clock.nowMs() }),
    },
    {
      ...{ clock, network, admin: fdb.admin, log: traceLog(trace, "rival") },
      random: (number) => keyedRandom(seed, `rival ${number}`),
      transport: () => server.transport("fdb-operator"),
      noteAction: (text, error) => trace.append("rival", text, error),
    },
  );
}

/** The operator beside the first one: of the same installation, or of another that sees the same clusters. */
type Company = "instance" | "installation" | undefined;

function companyOf(seed: number): Company {
  if (keyedRandom(seed, "rival").next() < rivalChance) return "instance";
  return keyedRandom(seed, "overlap").next() < overlapChance ? "installation" : undefined;
}

/** Only installations that may meet others have names. */
function nameIn(company: Company, place: string): { name?: string } {
  return company === "installation" ? { name: operatorNameOf(place, "lease") } : {};
}

/** Two installations tell each other twice an hour that they are there. */
function isOfOverlap(write: string): boolean {
  return write.includes(" foundationdbclusters ") || write.includes(" events ");
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
