// An operator that dies at a chosen write, to the API server or to the database, before or after the write was carried
// out. From then on nothing that it says arrives. Rules: spec/world.md [W64].
import type { AdminClient, AdminClientFactory } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { KubeError } from "../../kube/error.ts";
import type { KubeTransport } from "../../kube/transport.ts";

export interface Death {
  /** Which write from now on, counted from one. */
  write: number;
  moment: "before" | "after";
}

/** One operator's life; each operator that is started gets its own. */
export class OperatorLife {
  #writes = 0;
  #death: Death | undefined;
  #isDead = false;

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Writes since the last call of `dieAt`. */
  get writes(): number {
    return this.#writes;
  }

  dieAt(death: Death | undefined): void {
    this.#writes = 0;
    this.#death = death;
  }

  /** Between two writes, whatever is under way. */
  die(): void {
    this.#isDead = true;
  }

  transport(transport: KubeTransport): KubeTransport {
    const lost = (): KubeError => new KubeError(0, "Unreachable", "the operator is dead");
    return {
      watch: (request, onEvent) =>
        transport.watch(request, (event) => {
          if (!this.#isDead) onEvent(event);
        }),
      request: async (request) => {
        const isWrite = request.method !== "GET" && !request.path.includes("/events");
        return this.#pass(isWrite, () => transport.request(request), lost);
      },
    };
  }

  admin(admin: AdminClientFactory): AdminClientFactory {
    return { ...admin, open: (options) => this.#client(admin.open(options)) };
  }

  #client(client: AdminClient): AdminClient {
    const lost = (): Error => namedFdbError(1031);
    const read = <T>(call: () => Promise<T>): Promise<T> => this.#pass(false, call, lost);
    const write = <T>(call: () => Promise<T>): Promise<T> => this.#pass(true, call, lost);
    return {
      close: () => client.close(),
      status: (timeoutMs) => read(() => client.status(timeoutMs)),
      excluded: (timeoutMs) => read(() => client.excluded(timeoutMs)),
      exclusionsInProgress: (timeoutMs) => read(() => client.exclusionsInProgress(timeoutMs)),
      connectionString: (timeoutMs) => read(() => client.connectionString(timeoutMs)),
      configure: (text, timeoutMs) => write(() => client.configure(text, timeoutMs)),
      exclude: (targets, options) => write(() => client.exclude(targets, options)),
      include: (targets, timeoutMs) => write(() => client.include(targets, timeoutMs)),
      kill: (addresses, timeoutMs) => write(() => client.kill(addresses, timeoutMs)),
      changeCoordinators: (addresses, timeoutMs) =>
        write(() => client.changeCoordinators(addresses, timeoutMs)),
      setMaintenanceZone: (zone, seconds, timeoutMs) =>
        write(() => client.setMaintenanceZone(zone, seconds, timeoutMs)),
      resetMaintenanceZone: (timeoutMs) => write(() => client.resetMaintenanceZone(timeoutMs)),
      // Most transactions of the operator only read, and a death between two reads shows nothing.
      transact: async (body, options) => {
        let hasWritten = false;
        const counted = (): Promise<Awaited<ReturnType<typeof body>>> =>
          client.transact(async (transaction) => {
            const noted = {
              ...transaction,
              get: transaction.get.bind(transaction),
              getRange: transaction.getRange.bind(transaction),
              estimatedBytes: transaction.estimatedBytes.bind(transaction),
              set: (key: Uint8Array, value: Uint8Array) => {
                hasWritten = true;
                transaction.set(key, value);
              },
              clear: (key: Uint8Array) => {
                hasWritten = true;
                transaction.clear(key);
              },
              clearRange: (begin: Uint8Array, end: Uint8Array) => {
                hasWritten = true;
                transaction.clearRange(begin, end);
              },
            };
            const result = await body(noted);
            if (hasWritten && this.#strikes("before")) throw lost();
            return result;
          }, options) as Promise<Awaited<ReturnType<typeof body>>>;
        if (this.#isDead) throw lost();
        const result = await counted();
        if (hasWritten) {
          this.#writes += 1;
          if (this.#strikesAt("after", this.#writes)) throw lost();
        }
        return result;
      },
    };
  }

  async #pass<T>(isWrite: boolean, call: () => Promise<T>, lost: () => Error): Promise<T> {
    if (this.#isDead) throw lost();
    if (!isWrite) {
      const answer = await call();
      if (this.#isDead) throw lost();
      return answer;
    }
    if (this.#strikes("before")) throw lost();
    this.#writes += 1;
    const number = this.#writes;
    const answer = await call();
    if (this.#strikesAt("after", number)) throw lost();
    return answer;
  }

  /** Whether death comes before the next write. */
  #strikes(moment: Death["moment"]): boolean {
    return this.#strikesAt(moment, this.#writes + 1);
  }

  #strikesAt(moment: Death["moment"], write: number): boolean {
    if (this.#death?.moment === moment && this.#death.write === write) this.#isDead = true;
    return this.#isDead;
  }
}
