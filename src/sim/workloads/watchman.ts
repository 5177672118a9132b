// Looks at what the operator does to a database, with the truth beside it: every deletion of a pod or volume as it
// reaches the server, every time without commits. Rules: spec/world.md [W68].
import { isAdopting } from "../../api/adoption.ts";
import { leastOf } from "../../env/long-lists.ts";
import { isHibernated } from "../../api/hibernation.ts";
import type { FoundationDBCluster } from "../../api/cluster.ts";
import type { AdminClient, AdminClientFactory } from "../../fdb/admin.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import { hostOf } from "../../model/address.ts";
import type { KubeResponse, KubeTransport } from "../../kube/transport.ts";
import { isStateful } from "../../model/process-class.ts";
import { hasReported } from "../../model/process-group.ts";
import { podNameOf } from "../../model/process-group-id.ts";
import type { DatabaseOutline, DatabaseTruth } from "../database/simulated-fdb.ts";
import type { World } from "../world.ts";
import { BucketWatch } from "./bucket-watch.ts";
import { tolerances } from "./life-terms.ts";
import { PlacementWatch } from "./placement-watch.ts";
import { Repetitions, withoutWiggle } from "./repetitions.ts";
import { ReusedNames } from "./reused-names.ts";
import { StallWatch } from "./stall-watch.ts";
import type { ActKind } from "./stall-watch.ts";
import { hasEnded, holdsData, isServing, ownerOf, runsDatabase, zoneOf } from "./watched-pod.ts";
import { placeOf } from "./watched-request.ts";
import type { Place } from "./watched-request.ts";
import { WindowWatch } from "./window-watch.ts";

const idLabel = "foundationdb.org/fdb-process-group-id";

/** One recovery with everything that belongs to it: noticing, electing, starting processes. */
export const longestRecoveryMs = 20_000;
/** By then every status that the operator may act on shows it. */
const statusAgeMs = 60_000;
/** An act that disrupts rests on a status that is not older. */
const newestStatusMs = 3_000;
const youngMs = 60_000;
/** Within this time the database has given up a process that is gone, and made other copies. */
const healingMs = 300_000;
/** What others did may be felt for so long. */
const disturbanceMs = 120_000;

type ProcessGroup = NonNullable<
  NonNullable<FoundationDBCluster["status"]>["processGroups"]
>[number];

export class Watchman {
  readonly violations: string[] = [];
  readonly #pods = new Map<string, Pod>();
  /** The last pod of each name that served. */
  readonly #served = new Map<string, Pod>();
  /** Names of pods of which a process has been part of the database, so that it may miss them. */
  readonly #joined = new Set<string>();
  readonly #firstServedMs = new Map<string, number>();
  /** Since when pods do not serve. */
  readonly #lostMs = new Map<string, number>();
  readonly #disturbances: { fromMs: number; toMs: number }[] = [];
  /** Claims that somebody deleted and a pod holds. */
  readonly #doomedClaims = new Set<string>();
  #world: World | undefined;
  readonly #clusters = new Map<string, FoundationDBCluster>();
  /** By cluster, as last stored: when somebody wipes a status, what was decided on it may be under way. */
  readonly #groups = new Map<string, readonly ProcessGroup[]>();
  readonly #names = new ReusedNames();
  readonly #placement = new PlacementWatch((text) => this.#violated(text));
  readonly buckets = new BucketWatch((text) => this.#violated(text));
  /** What acts of the operator cost those who use the database. */
  readonly stalls = new StallWatch((fromMs, toMs) => this.#isOthers(fromMs, toMs));
  readonly windows = new WindowWatch((text) => this.#violated(text));
  #isDisturbed: () => boolean = () => false;
  #leftAlone: string | undefined;
  #availableMs = Infinity;

  /** `leftAlone`: a cluster whose database nobody counts on. */
  watch(
    world: World,
    isDisturbed: () => boolean,
    hasHalls: boolean,
    leftAlone: string | undefined,
  ): void {
    this.#world = world;
    this.#placement.hasHalls = hasHalls;
    this.#placement.isOver = (name) => this.#isOver(name);
    this.#isDisturbed = isDisturbed;
    this.#leftAlone = leftAlone;
    this.windows.isDisturbed = () => this.#isDisturbedLately();
    this.windows.isWell = ({ metadata }, { processClass, processGroupID }) => {
      const name = podNameOf(metadata.name ?? "", processClass, processGroupID);
      const pod = this.#pods.get(name);
      return pod !== undefined && isServing(pod) && !this.#doomedClaims.has(`${name}-data`);
    };
    world.server.context.store.subscribeAll(({ type, storageKey, name, object }) => {
      if (storageKey.endsWith("/foundationdbclusters") && name !== leftAlone) {
        this.#noteCluster(name, object as unknown as FoundationDBCluster, type === "DELETED");
        this.buckets.noteCluster(object as unknown as FoundationDBCluster);
        this.windows.noteCluster(object as unknown as FoundationDBCluster);
      }
      if (storageKey === "/nodes") this.#placement.noteNode(object as unknown as Node);
      if (storageKey === "/events" && type === "ADDED") {
        this.buckets.noteEvent(object as unknown as Event);
      }
      if (storageKey === "/persistentvolumeclaims") {
        this.#noteClaim(object as unknown as PersistentVolumeClaim, type === "DELETED");
      }
      if (storageKey === "/pods") this.#notePod(name, object as unknown as Pod, type === "DELETED");
    });
  }

  /** What others who watch have found. */
  note(text: string): void {
    this.#violated(text);
  }

  #noteCluster(name: string, cluster: FoundationDBCluster, isDeleted: boolean): void {
    this.#clusters.set(name, cluster);
    if (isDeleted) return void this.#groups.delete(name);
    const groups = cluster.status?.processGroups ?? [];
    if (groups.length > 0) this.#groups.set(name, groups);
    for (const podName of this.#names.note(name, groups)) this.#forget(podName);
  }

  #forget(podName: string): void {
    if (this.#pods.has(podName)) return;
    const memories = [this.#served, this.#joined, this.#firstServedMs, this.#lostMs];
    for (const memory of memories) memory.delete(podName);
  }

  #databases(): DatabaseTruth[] {
    const { truth } = this.#theWorld().fdb;
    return truth.databases().filter(({ description }) => description !== this.#leftAlone);
  }

  #outlines(): DatabaseOutline[] {
    const { truth } = this.#theWorld().fdb;
    return truth.outlines().filter(({ description }) => description !== this.#leftAlone);
  }

  #isLeftAlone(podName: string): boolean {
    const pod = this.#pods.get(podName) ?? this.#served.get(podName);
    return this.#leftAlone !== undefined && ownerOf(pod) === this.#leftAlone;
  }

  #notePod(name: string, pod: Pod, isDeleted: boolean): void {
    if (isDeleted) this.#pods.delete(name);
    else this.#pods.set(name, pod);
    const isHere = isServing(pod) && !isDeleted;
    if (isHere) this.#served.set(name, pod);
    if (isHere && !this.#firstServedMs.has(name)) this.#firstServedMs.set(name, this.#nowMs());
    if (isHere) this.#lostMs.delete(name);
    else if (!this.#lostMs.has(name)) this.#lostMs.set(name, this.#nowMs());
    this.#placement.notePod(pod, isDeleted);
  }

  /** Somebody else than the operator has done something to the database. */
  noteDisturbance(): void {
    this.#disturbedMs = this.#nowMs();
    this.#goOnDisturbing();
  }

  #disturbedMs = -Infinity;

  #goOnDisturbing(): void {
    const nowMs = this.#nowMs();
    const [fromMs, toMs] = [nowMs - 5_000, nowMs + disturbanceMs];
    const last = this.#disturbances.at(-1);
    // One that goes on is noted at every look.
    if (last !== undefined && last.toMs >= fromMs) last.toMs = toMs;
    else this.#disturbances.push({ fromMs, toMs });
  }

  /** To be called now and then, since some disturbances last. */
  look(): void {
    const isAsleep = [...this.#clusters.values()].some(isHibernated);
    if (isAsleep || this.#isDisturbed()) this.#goOnDisturbing();
    const { truth } = this.#theWorld().fdb;
    this.#noteAvailability();
    this.#noteMembers();
    for (const lost of truth.dataLost()) {
      if (lost.database !== this.#leftAlone) this.#violated(`data lost: ${JSON.stringify(lost)}`);
    }
    for (const { recoveries } of this.#outlines()) {
      this.stalls.look(recoveries);
      recoveries.forEach(({ cause, stalledSinceMs, acceptedMs }, index) => {
        // The first is the creation: before it there was nothing to commit to.
        if (index > 0 && acceptedMs !== undefined)
          this.#checkStall(cause, stalledSinceMs, acceptedMs);
      });
    }
  }

  inspect(transport: KubeTransport): KubeTransport {
    return {
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: (request) => {
        if (request.method !== "DELETE") return transport.request(request);
        const place = placeOf(request.path);
        if (this.#isOutdated(place, request.body)) return transport.request(request);
        const undo = this.#checkDeletion(place);
        if (place.plural === "pods") this.stalls.noteAct("pods", this.#nowMs());
        const answer = transport.request(request);
        // Without an answer it may have happened.
        const judge = ({ status }: KubeResponse): void => (status >= 400 ? undo() : undefined);
        answer.then(judge, () => undefined);
        return answer;
      },
    };
  }

  /** Somebody asks for an eviction: what the budget of the operator lets through is as safe as what it does itself. */
  async inspectEviction(podName: string, evict: () => Promise<boolean>): Promise<void> {
    const isOthers = this.#isDisturbedLately() || this.#clusters.size > 1;
    this.#noteMembers();
    const before = this.violations.length;
    this.#checkBudget(podName);
    this.#checkCoordinators(podName);
    const found = this.violations.splice(before);
    if (!(await evict()) || isOthers) return;
    for (const text of found) this.violations.push(`${text} (evicted from a node that is drained)`);
  }

  /** Somebody else holds the lock of the database until then. */
  foreignLockUntilMs = 0;

  inspectCommands(admin: AdminClientFactory): AdminClientFactory {
    const check = (command: string): void => {
      const isLocked = this.#nowMs() < this.foreignLockUntilMs;
      if (isLocked) this.#violated(`${command} while somebody else holds the lock`);
    };
    const inspected = (client: AdminClient): AdminClient => ({
      ...client,
      configure: async (text, timeoutMs) => {
        const rest = withoutWiggle(text);
        if (rest !== this.#configured) this.windows.checkCommand(`configure ${text}`);
        await this.#once("configuration", `configure ${text}`, () =>
          client.configure(text, timeoutMs),
        );
        this.#configured = rest;
      },
      include: (targets, timeoutMs) =>
        this.#once("inclusion", `include ${targets.join(" ")}`, () =>
          client.include(targets, timeoutMs),
        ),
      kill: (addresses, timeoutMs) => {
        check("kill");
        this.windows.checkCommand("kill");
        this.#checkAvailable("processes are restarted");
        const text = `kill ${addresses.join(" ")}`;
        return this.#once("restart", text, () => client.kill(addresses, timeoutMs));
      },
      exclude: (targets, options) => {
        if (options.wait) return client.exclude(targets, options);
        check("exclude");
        const text = `exclude ${targets.join(" ")}`;
        return this.#once("exclusion", text, () => client.exclude(targets, options));
      },
      changeCoordinators: (addresses, timeoutMs) => {
        check("coordinators");
        if (this.#areCoordinatorsWell()) this.windows.checkCommand("coordinators");
        const text = `coordinators ${addresses.join(" ")}`;
        return this.#once("coordinators", text, () =>
          client.changeCoordinators(addresses, timeoutMs),
        );
      },
    });
    const isLeftAlone = (name: string): boolean =>
      this.#leftAlone !== undefined && name.endsWith(`/${this.#leftAlone}`);
    return {
      ...admin,
      open: (options) =>
        isLeftAlone(options.name) ? admin.open(options) : inspected(admin.open(options)),
    };
  }

  /** What was configured last, but for the storage wiggle. */
  #configured = "";

  readonly #repetitions = new Repetitions();

  async #once<T>(kind: ActKind, text: string, command: () => Promise<T>): Promise<T> {
    const nowMs = this.#nowMs();
    const isOthers = this.#disturbances.some(({ toMs }) => toMs >= nowMs);
    const problem = this.#repetitions.problem(text, nowMs);
    if (problem !== undefined && !isOthers) this.#violated(problem);
    if (!text.startsWith("configure new ")) this.stalls.noteAct(kind, nowMs);
    const answer = await command();
    this.#repetitions.noteCarriedOut(kind, text, this.#nowMs());
    return answer;
  }

  readonly #judged = new Set<number>();

  #checkStall(cause: string, fromMs: number, toMs: number): void {
    if (this.#judged.has(toMs)) return;
    this.#judged.add(toMs);
    if (toMs - fromMs <= longestRecoveryMs) return;
    if (!this.#isOthers(fromMs, toMs))
      this.#violated(`no commits for ${toMs - fromMs} ms: ${cause}`);
  }

  #isOthers(fromMs: number, toMs: number): boolean {
    return this.#disturbances.some((one) => one.fromMs <= toMs && one.toMs >= fromMs);
  }

  /** It was decided on another state of the pod than the server has, which will refuse it. */
  #isOutdated({ plural, name }: Place, body: unknown): boolean {
    const { preconditions } = (body ?? {}) as { preconditions?: { resourceVersion?: string } };
    const seen = preconditions?.resourceVersion;
    const stored = this.#pods.get(name)?.metadata.resourceVersion;
    return plural === "pods" && seen !== undefined && stored !== undefined && seen !== stored;
  }

  /** What to do when the server refuses the deletion. */
  #checkDeletion({ plural, name }: Place): () => void {
    const nothing = (): void => {};
    if (plural !== "pods" && plural !== "persistentvolumeclaims") return nothing;
    this.#noteMembers();
    const podName = plural === "pods" ? name : name.replace(/-data$/, "");
    if (this.#isLeftAlone(podName)) return nothing;
    const group = this.#groupOf(podName);
    const label = this.#served.get(podName)?.metadata.labels?.[idLabel];
    const id = group?.processGroupID ?? label ?? "";
    // A pod that ended takes nothing with it, and comes back on its volume.
    if (plural === "pods" && hasEnded(this.#pods.get(name))) return nothing;
    const isRemoval = group?.removalTimestamp !== undefined || plural !== "pods";
    if (isRemoval) this.#placement.noteRemoved(podName);
    if (plural !== "pods") {
      if (group?.exclusionSkipped !== true) this.#checkEmpty(name, id);
      return nothing;
    }
    // Without a volume, what a process holds goes with its pod.
    const isLast = isRemoval && group !== undefined && !isStateful(group.processClass);
    if (isLast && group.exclusionSkipped !== true) this.#checkEmpty(name, id);
    this.#checkClaim(podName, group, id);
    const hibernated = this.#hibernatedCluster(podName);
    if (hibernated !== undefined) {
      this.#checkSleep(podName, hibernated);
      return nothing;
    }
    // The pod of a group that leaves may also be one that comes back on its volume.
    if (isRemoval && this.#shardsOn(id) === 0) return nothing;
    const pod = this.#pods.get(podName);
    const isTaken = pod !== undefined && isServing(pod);
    const isJudged = isTaken && !this.#isSoughtInVain(pod);
    const undo = isJudged ? this.#placement.checkHall(pod, this.#nowMs()) : nothing;
    if (isTaken && !isRemoval && this.#joined.has(podName) && !this.#isIncompatible(pod)) {
      this.windows.checkDeletion(pod, ownerOf(pod) ?? "");
    }
    this.#checkBudget(podName);
    this.#checkCoordinators(podName);
    return undo;
  }

  /** The cluster of the pod when its owner wants it to sleep, and that it is stopped has been stored. */
  #hibernatedCluster(podName: string): FoundationDBCluster | undefined {
    const pod = this.#pods.get(podName) ?? this.#served.get(podName);
    const cluster = this.#clusters.get(ownerOf(pod) ?? "");
    return cluster !== undefined && isHibernated(cluster) ? cluster : undefined;
  }

  /** The first pod is taken from a database that is whole; once one is gone the others follow. */
  #checkSleep(podName: string, { metadata, status }: FoundationDBCluster): void {
    const serving = [...this.#pods.values()].filter(
      (pod) => isServing(pod) && ownerOf(pod) === metadata.name,
    );
    if (serving.length < (status?.processGroups?.length ?? 0)) return;
    // Another resource has stopped its part of the same database before.
    const asleep = [...this.#clusters.values()].filter(isHibernated);
    if (asleep.some((other) => other.metadata.name !== metadata.name)) return;
    this.#checkAvailable(`pod ${podName} is stopped for a sleep`);
    // Somebody took a copy away after the newest status that an act may rest on.
    if (this.#nowMs() - this.#disturbedMs < newestStatusMs) return;
    const missing = this.#theWorld()
      .fdb.truth.databases()
      .filter(({ connectionString }) => connectionString === status?.connectionString)
      .flatMap((database) => database.replicas)
      .flatMap(({ replicas }) => replicas)
      .filter(({ isLive, isOnDisk }) => !isLive || !isOnDisk);
    if (missing.length > 0) this.#violated(`a database sleeps while ${missing.length} copies miss`);
  }

  /** What is removed for good holds no copy that anybody counts on. */
  #checkEmpty(name: string, id: string): void {
    const count = this.#shardsOn(id);
    if (count > 0) this.#violated(`${name} is deleted while ${count} shards have a copy there`);
  }

  /** A claim that is being deleted goes with its pod, and what is on the volume goes with it. */
  #checkClaim(podName: string, group: ProcessGroup | undefined, id: string): void {
    if (!this.#doomedClaims.has(`${podName}-data`) || group?.exclusionSkipped === true) return;
    const count = this.#shardsOn(id);
    if (count > 0) {
      const what = `${count} shards have a copy on its volume, whose claim is being deleted`;
      this.#violated(`pod ${podName} is taken down while ${what}`);
    }
  }

  #noteClaim({ metadata }: PersistentVolumeClaim, isDeleted: boolean): void {
    const isDoomed = metadata.deletionTimestamp !== undefined && !isDeleted;
    if (isDoomed) this.#doomedClaims.add(metadata.name ?? "");
    else this.#doomedClaims.delete(metadata.name ?? "");
  }

  #shardsOn(id: string): number {
    const shards = this.#theWorld().fdb.truth.replicas();
    return shards.filter(({ replicas }) =>
      replicas.some(({ localities }) => localities["instance_id"] === id),
    ).length;
  }

  /** It was removed, be it that its volume is set aside and not deleted, and what it held has its copies elsewhere. */
  #isOver(podName: string): boolean {
    const id = this.#served.get(podName)?.metadata.labels?.[idLabel] ?? "";
    return this.#groupOf(podName) === undefined && this.#shardsOn(id) === 0;
  }

  #checkBudget(podName: string): void {
    const pod = this.#served.get(podName);
    const zone = zoneOf(pod);
    if (pod === undefined || zone === undefined || !holdsData(pod)) return;
    if (!this.#joined.has(podName) || this.#isNew(podName, pod)) return;
    const down = this.#downZones(podName);
    if (down.has(zone) || this.#isIncompatible(pod) || this.#isSoughtInVain(pod)) return;
    this.#checkAvailable(`pod ${podName} is taken down`);
    if (down.size + 1 > this.#tolerance()) {
      const others = [...down].sort().join(", ");
      this.#violated(`pod ${podName} on ${zone} is taken down while these are: ${others}`);
    }
  }

  /** It came up for the first time after the newest status that an act may rest on, and has got no data yet. */
  #isNew(name: string, { metadata }: Pod): boolean {
    const servedMs = this.#nowMs() - (this.#firstServedMs.get(name) ?? 0);
    return servedMs < newestStatusMs && this.#shardsOn(metadata.labels?.[idLabel] ?? "") === 0;
  }

  /** Lost soon after it came up, before any status had shown it: nothing rests on it. */
  #wasNeverSeen(name: string, group: ProcessGroup): boolean {
    const lostMs = this.#lostMs.get(name) ?? Infinity;
    const isYoung = lostMs - (this.#firstServedMs.get(name) ?? 0) < youngMs;
    return isYoung && !hasReported(group) && this.#shardsOn(group.processGroupID) === 0;
  }

  /** It stayed behind in an upgrade, or ran ahead: the database has nothing from it, and only a restart brings it back. */
  #isIncompatible({ status }: Pod): boolean {
    const databases = this.#databases();
    return databases.some(({ incompatible }) =>
      incompatible.some((address) => hostOf(address) === status?.podIP),
    );
  }

  /** The database is to come back from its disks and does not: what was specified wrongly is corrected for all at once. */
  #isSoughtInVain(pod: Pod): boolean {
    const cluster = this.#clusters.get(ownerOf(pod) ?? "");
    if (cluster === undefined || !isAdopting(cluster)) return false;
    return !this.#databases().some(({ isAvailable }) => isAvailable);
  }

  #noteMembers(): void {
    if (this.#joined.size === this.#served.size) return;
    for (const { members } of this.#theWorld().fdb.truth.outlines()) {
      for (const address of members) {
        const name = this.#podAt(address);
        if (name !== undefined) this.#joined.add(name);
      }
    }
  }

  #noteAvailability(): void {
    const databases = this.#outlines();
    if (databases.some(({ isAvailable }) => isAvailable)) this.#availableMs = this.#nowMs();
  }

  /** A database that is known to be unavailable is not disturbed further. */
  #checkAvailable(what: string): void {
    this.#noteAvailability();
    const awayMs = this.#nowMs() - this.#availableMs;
    if (awayMs > statusAgeMs) {
      this.#violated(`${what} while the database has been away for ${awayMs} ms`);
    }
  }

  /** What is lost for so long that the database has made good for it is missed no more, where its operator cannot know of it: elsewhere, or in a wiped status. */
  #isOvercome(name: string, podName: string, group: ProcessGroup): boolean {
    const isElsewhere = ownerOf(this.#served.get(name)) !== ownerOf(this.#served.get(podName));
    if (!isElsewhere && hasReported(group)) return false;
    const isLongAgo = this.#nowMs() - (this.#lostMs.get(name) ?? Infinity) > healingMs;
    const shards = this.#theWorld().fdb.truth.replicas();
    return isLongAgo && shards.every(({ replicas }) => replicas.every(({ isLive }) => isLive));
  }

  /**
   * A sidecar that restarts takes nothing from the database. The database is asked, too: nobody tells of the containers of a node
   * that is lost meanwhile.
   */
  #isUp(name: string, pod: Pod): boolean {
    if (isServing(pod)) return true;
    if (!runsDatabase(pod)) return false;
    const members = this.#outlines().flatMap((outline) => outline.members);
    return members.some((address) => this.#podAt(address) === name);
  }

  #downZones(podName: string): Set<string> {
    const down = new Set<string>();
    for (const [name, pod] of this.#served) {
      const group = this.#groupOf(name);
      const zone = zoneOf(pod);
      if (group === undefined || group.removalTimestamp !== undefined) continue;
      if (!holdsData(pod) || zone === undefined || !this.#joined.has(name)) continue;
      if (this.#wasNeverSeen(name, group)) continue;
      const present = this.#pods.get(name);
      const isDown = present === undefined || !this.#isUp(name, present);
      if (isDown && !this.#isOvercome(name, podName, group)) down.add(zone);
    }
    return down;
  }

  /** By what the database had when it was last seen: what is wished for is not in force before. */
  #tolerance(): number {
    const modes = [...this.#clusters.values()].map(
      ({ spec, status }) => (status ?? spec).databaseConfiguration?.redundancy_mode ?? "double",
    );
    return leastOf(modes.map((mode) => tolerances[mode] ?? 0));
  }

  /** A majority of the coordinators stays up. A pod of which no container has started yet runs none, and takes none down. */
  #checkCoordinators(podName: string): void {
    const taken = this.#pods.get(podName);
    if (taken?.status?.phase === "Pending") return;
    if (taken !== undefined && this.#isSoughtInVain(taken)) return;
    for (const { connectionString, isConfigured } of this.#databases()) {
      if (!isConfigured) continue;
      const coordinators = (connectionString.split("@")[1] ?? "").split(",");
      const pods = coordinators.map((address) => this.#podAt(address));
      if (!pods.includes(podName)) continue;
      const lost = pods.filter((name) => {
        const pod = name === undefined ? undefined : this.#pods.get(name);
        return name === podName || pod === undefined || !isServing(pod);
      });
      if (lost.length > (coordinators.length - 1) / 2) {
        this.#violated(`pod ${podName} is taken down: ${lost.length} coordinators would be away`);
      }
    }
  }

  #areCoordinatorsWell(): boolean {
    return this.#databases().every(({ connectionString, members }) => {
      const running = new Set(members.map((address) => this.#podAt(address)));
      return (connectionString.split("@")[1] ?? "").split(",").every((address) => {
        const name = this.#podAt(address) ?? "";
        const pod = this.#pods.get(name);
        const isLeaving = this.#groupOf(name)?.removalTimestamp !== undefined;
        return pod !== undefined && running.has(name) && isServing(pod) && !isLeaving;
      });
    });
  }

  #isDisturbedLately(): boolean {
    const nowMs = this.#nowMs();
    return this.#isDisturbed() || this.#disturbances.some(({ toMs }) => toMs >= nowMs);
  }

  #podAt(address: string): string | undefined {
    for (const [name, pod] of this.#served) {
      if (address.startsWith(`${name}.`)) return name;
      const ips = [
        ...(pod.status?.podIPs ?? []).map(({ ip }) => ip),
        pod.metadata.annotations?.["foundationdb.org/public-ip"] ?? "",
      ];
      if (ips.some((ip) => address.startsWith(`${ip}:`) || address.startsWith(`[${ip}]:`))) {
        return name;
      }
    }
    return undefined;
  }

  #groupOf(podName: string): ProcessGroup | undefined {
    for (const [name, groups] of this.#groups) {
      const group = groups.find(
        ({ processGroupID, processClass }) =>
          podNameOf(name, processClass, processGroupID) === podName,
      );
      if (group !== undefined) return group;
    }
    return undefined;
  }

  #violated(text: string): void {
    const line = `${this.#nowMs()} ${text}`;
    if (!this.violations.includes(line)) this.violations.push(line);
  }

  #nowMs(): number {
    return this.#theWorld().clock.nowMs();
  }

  #theWorld(): World {
    if (this.#world === undefined) throw new Error("there is no world to watch");
    return this.#world;
  }
}
