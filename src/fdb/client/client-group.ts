// Spreads databases that can share client processes over such processes: those that are well sit together, those in
// trouble by themselves. Rules: spec/real-database.md [DB11], [DB13], [DB18], [DB50]-[DB56].
import type { Clock, Timer } from "../../env/clock.ts";
import { mostOf } from "../../env/long-lists.ts";
import type { Log } from "../../env/log.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { ChildHandle } from "./child-handle.ts";
import { ClientProcess } from "./client-process.ts";
import type { ProcessEvents, Seat } from "./client-process.ts";
import { PooledDatabase } from "./pooled-database.ts";
import { Suspicion } from "./suspicion.ts";

export interface DatabasePlace {
  /** For logs and metrics. */
  readonly name: string;
  readonly connectionString: string;
  readonly commandPath: string;
}

export interface ClientGroupOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: ClientLimits;
  /** Starts a child and sends it what all its databases have in common. */
  readonly start: () => ChildHandle;
  /** A number for a new process, and the end of its use. */
  readonly takeNumber: () => number;
  readonly freeNumber: (number: number) => void;
  /** Called for each database whose client was lost, with the reason, unless another is to blame. */
  readonly onLost: (name: string, reason: string) => void;
  /** The last database is closed. */
  readonly onEmpty: () => void;
}

interface Member {
  readonly place: DatabasePlace;
  readonly database: PooledDatabase;
  readonly suspicion: Suspicion;
  /** How many places it takes in a process. */
  weight: number;
  /** Losses of its process in a row. */
  failures: number;
  timeouts: number;
  /** It gets no seat before this is over. */
  pause: Timer | undefined;
  release: Timer | undefined;
}

export class ClientGroup {
  readonly #options: ClientGroupOptions;
  readonly #members = new Set<Member>();
  readonly #processes = new Set<ClientProcess>();
  readonly #seats = new Map<Seat, Member>();
  readonly #events: ProcessEvents = {
    ready: (process) => this.#ready(process),
    lost: (process, reason) => this.#lost(process, reason),
    stuck: (process, seat, reason) => this.#stuck(process, seat, reason),
    grown: (process) => this.#grown(process),
    ended: (process) => this.#drop(process),
  };

  constructor(options: ClientGroupOptions) {
    this.#options = options;
  }

  get processes(): readonly ClientProcess[] {
    return [...this.#processes];
  }

  open(place: DatabasePlace): PooledDatabase {
    const { clock, limits } = this.#options;
    const database = new PooledDatabase(clock, limits.repetitions, {
      timedOut: () => this.#timedOut(member),
      answered: () => {
        member.timeouts = 0;
        member.suspicion.answered();
      },
      weighed: (bytes) => this.#weighed(member, bytes),
      mostBytes: () => this.#mostBytes(member),
      closed: () => this.#closed(member),
    });
    const member: Member = {
      ...{ place, database, suspicion: new Suspicion(limits), weight: 1, failures: 0, timeouts: 0 },
      ...{ pause: undefined, release: undefined },
    };
    this.#members.add(member);
    this.#findSeat(member);
    return database;
  }

  /** All databases move to new processes; the present ones finish what they have begun. */
  replaceAll(): void {
    const running = [...this.#processes].filter((process) => !process.isRetired);
    for (const process of running) process.isRetired = true;
    for (const process of running) this.#moveAll(process);
  }

  #findSeat(member: Member): void {
    if (member.database.isClosed || member.pause !== undefined) return;
    const process = member.suspicion.isSuspect ? this.#wardFor(member) : this.#sharedFor(member);
    if (process !== undefined) this.#sit(member, process);
  }

  #sit(member: Member, process: ClientProcess): void {
    const { connectionString, commandPath } = member.place;
    const seat = process.seat({ connectionString, commandPath });
    this.#seats.set(seat, member);
    member.database.sit(seat);
    this.#forgetSeats();
  }

  /** The fullest one with enough room, so that processes become empty where databases go. */
  #sharedFor(member: Member): ClientProcess | undefined {
    const { databasesPerProcess } = this.#options.limits;
    const rooms = this.#rooms(false)
      .filter(({ load }) => load + member.weight <= databasesPerProcess)
      .toSorted((left, right) => right.load - left.load);
    return rooms[0]?.process ?? this.#start(member, false);
  }

  /** One of its own while there are not too many; then with those of the least trouble, and with the fewest of them. */
  #wardFor(member: Member): ClientProcess | undefined {
    const trouble = (process: ClientProcess): number =>
      mostOf(
        this.#membersOf(process).map(({ failures }) => failures),
        0,
      );
    const wards = this.#rooms(true).toSorted(
      (left, right) => trouble(left.process) - trouble(right.process) || left.load - right.load,
    );
    if (wards.length < this.#options.limits.quarantineProcesses) {
      return this.#start(member, true);
    }
    return wards[0]?.process;
  }

  #rooms(isWard: boolean): { process: ClientProcess; load: number }[] {
    return [...this.#processes]
      .filter((process) => process.isWard === isWard && !process.isRetired)
      .map((process) => ({ process, load: this.#load(process) }));
  }

  #load(process: ClientProcess): number {
    return this.#membersOf(process).reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Those whose new calls go there. */
  #membersOf(process: ClientProcess): Member[] {
    return [...this.#members].filter(({ database }) => database.seat?.process === process);
  }

  #start(member: Member, isWard: boolean): ClientProcess | undefined {
    const { clock, limits, start, takeNumber } = this.#options;
    let handle: ChildHandle;
    try {
      handle = start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#pause(member, `it could not be started: ${reason}`, 0);
      return undefined;
    }
    const process = new ClientProcess({
      ...{ clock, limits, handle, events: this.#events, number: takeNumber() },
    });
    process.isWard = isWard;
    this.#processes.add(process);
    return process;
  }

  #ready(process: ClientProcess): void {
    this.#options.log.debug("a client process is ready", { process: process.number });
    for (const { database } of this.#membersOf(process)) database.sendWaiting();
  }

  #drop(process: ClientProcess): void {
    if (!this.#processes.delete(process)) return;
    this.#options.freeNumber(process.number);
    this.#forgetSeats();
  }

  #forgetSeats(): void {
    for (const seat of this.#seats.keys()) {
      if (!seat.isTaken) this.#seats.delete(seat);
    }
  }

  #lost(process: ClientProcess, reason: string): void {
    const nowMs = this.#options.clock.nowMs();
    const seats = [...process.seats].flatMap((seat) => {
      const member = this.#seats.get(seat);
      return member === undefined ? [] : [{ seat, member, ranMs: nowMs - seat.sinceMs }];
    });
    const busy = seats.filter(({ seat }) => seat.isBusy);
    this.#drop(process);
    for (const { seat, member } of seats) member.database.lose(seat, reason);
    const blamed = busy.length > 0 ? busy : seats;
    // Where several may be the cause most of them are not: the first time they do not wait.
    const isDoubtful = process.isReady && blamed.length > 1;
    for (const { member, ranMs } of blamed) {
      // Before it was ready it knew no database, so none of them can be the cause.
      if (process.isReady) this.#blame(member, reason);
      this.#pause(member, reason, ranMs, isDoubtful);
    }
    if (isDoubtful) this.#divide(blamed.map(({ member }) => member));
    for (const { member } of seats) if (isWithoutSeat(member)) this.#findSeat(member);
    for (const { member } of blamed) {
      const isDivided = isDoubtful && member.database.seat?.process.isWard === true;
      if (!isDivided) this.#leaveOthers(member);
    }
  }

  /**
   * Those that may be the cause of one loss get a few processes together: the cause is found in two or three losses, and
   * the others have not to wait until a process for each of them is started.
   */
  #divide(suspects: readonly Member[]): void {
    const waiting = suspects
      .filter((member) => member.pause === undefined && isWithoutSeat(member))
      .toSorted((left, right) => right.failures - left.failures);
    const size = Math.ceil(waiting.length / this.#options.limits.processesPerLoss);
    while (waiting.length > 0 && this.#rooms(true).length < this.#wardsMax) {
      const [first, ...rest] = waiting.splice(0, size);
      if (first === undefined) return;
      const ward = this.#start(first, true);
      if (ward !== undefined) for (const member of [first, ...rest]) this.#sit(member, ward);
    }
  }

  /** The database gets another process; what it left open may stay open, so the others leave the old one as well. */
  #stuck(process: ClientProcess, seat: Seat, reason: string): void {
    const member = this.#seats.get(seat);
    if (member === undefined || process.seats.size === 1) return process.lose(reason);
    const ranMs = this.#options.clock.nowMs() - seat.sinceMs;
    process.isRetired = true;
    member.database.lose(seat, reason);
    process.leave(seat);
    this.#forgetSeats();
    this.#blame(member, reason);
    this.#pause(member, reason, ranMs);
    this.#leaveOthers(member);
    this.#moveAll(process);
  }

  #grown(process: ClientProcess): void {
    const { log } = this.#options;
    const { number, rssBytes } = process;
    log.warn("a client process takes too much memory", { process: number, rssBytes });
    process.isRetired = true;
    for (const member of this.#membersOf(process)) {
      this.#blame(member, `its process takes ${rssBytes} bytes of memory`);
    }
    this.#moveAll(process);
  }

  #moveAll(process: ClientProcess): void {
    for (const member of this.#membersOf(process)) this.#findSeat(member);
  }

  #timedOut(member: Member): void {
    const { clock, limits, log } = this.#options;
    member.timeouts += 1;
    if (member.timeouts < limits.timeoutsInRow) return;
    member.timeouts = 0;
    const wasSuspect = member.suspicion.isSuspect;
    member.suspicion.noteSilence(clock.nowMs());
    if (!wasSuspect) {
      const { name: database } = member.place;
      log.warn("a database is kept apart from others", { database, reason: "it does not answer" });
      this.#releaseLater(member);
    }
    this.#leaveOthers(member);
  }

  #blame(member: Member, reason: string): void {
    const { clock, log } = this.#options;
    const { name: database } = member.place;
    member.suspicion.blame(clock.nowMs());
    log.warn("a database is kept apart from others", { database, reason });
    this.#releaseLater(member);
  }

  /** A database in trouble does not stay with those that are well, nor with others in trouble while there is room. */
  #leaveOthers(member: Member): void {
    const { seat } = member.database;
    if (seat === undefined || !member.suspicion.isSuspect) return;
    const { process } = seat;
    if (process.isRetired) return;
    if (this.#membersOf(process).length === 1) process.isWard = true;
    else if (!process.isWard || this.#rooms(true).length < this.#wardsMax) this.#findSeat(member);
  }

  get #wardsMax(): number {
    return this.#options.limits.quarantineProcesses;
  }

  #releaseLater(member: Member, leastMs = this.#options.limits.firstPauseMs): void {
    const { clock, limits } = this.#options;
    member.release?.cancel();
    const waitMs = Math.max(leastMs, member.suspicion.untilMs - clock.nowMs());
    member.release = clock.setTimer(waitMs, () => {
      member.release = undefined;
      if (member.suspicion.release(clock.nowMs())) this.#released(member);
      // It was in trouble since, or nobody has asked it anything.
      else this.#releaseLater(member, limits.firstQuarantineMs);
    });
  }

  #released(member: Member): void {
    this.#options.log.info("a database is with others again", { database: member.place.name });
    const process = member.database.seat?.process;
    if (process === undefined) return;
    const { databasesPerProcess } = this.#options.limits;
    const hasRoom = this.#rooms(false).some(
      ({ load }) => load + member.weight <= databasesPerProcess,
    );
    if (hasRoom || this.#membersOf(process).length > 1) this.#findSeat(member);
    else process.isWard = false;
  }

  #pause(member: Member, reason: string, ranMs: number, isDoubtful = false): void {
    const { clock, log, limits, onLost } = this.#options;
    const { firstPauseMs, longestPauseMs, provenMs } = limits;
    member.failures = ranMs >= provenMs ? 1 : member.failures + 1;
    const doublings = member.failures - (isDoubtful ? 2 : 1);
    const pauseMs =
      doublings < 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(30, doublings));
    const { name: database } = member.place;
    log.warn("the client of a database was lost", { database, reason, pauseMs });
    onLost(database, reason);
    if (!isWithoutSeat(member) || pauseMs === 0) return;
    member.pause?.cancel();
    member.pause = clock.setTimer(pauseMs, () => {
      member.pause = undefined;
      if (isWithoutSeat(member)) this.#findSeat(member);
    });
  }

  #weighed(member: Member, bytes: number): void {
    const { databasesPerProcess, placeBytes } = this.#options.limits;
    const weight = Math.min(databasesPerProcess, 1 + Math.floor(bytes / placeBytes));
    if (weight === member.weight) return;
    const isHeavier = weight > member.weight;
    member.weight = weight;
    const process = member.database.seat?.process;
    if (!isHeavier || process === undefined || process.isWard) return;
    const others = this.#membersOf(process).length > 1;
    if (others && this.#load(process) > databasesPerProcess) this.#findSeat(member);
  }

  /** The largest status with which it would not have to move. */
  #mostBytes(member: Member): number | null {
    const { databasesPerProcess, placeBytes } = this.#options.limits;
    const process = member.database.seat?.process;
    if (process === undefined || process.isWard || this.#membersOf(process).length === 1)
      return null;
    const others = this.#load(process) - member.weight;
    return Math.max(1, databasesPerProcess - others) * placeBytes;
  }

  #closed(member: Member): void {
    member.pause?.cancel();
    member.release?.cancel();
    this.#members.delete(member);
    for (const [seat, owner] of [...this.#seats]) {
      if (owner !== member) continue;
      this.#seats.delete(seat);
      seat.process.leave(seat);
    }
    if (this.#members.size === 0) this.#options.onEmpty();
  }
}

/** Also when it still has one in a process that it has to leave. */
function isWithoutSeat({ database }: Member): boolean {
  return database.seat === undefined || database.seat.process.isRetired;
}
