// The network of the client library, of which a process has one for all its databases, and the answers that come from it.
// Rules: spec/real-database.md [DB50].
import { FdbError } from "../error.ts";
import { apiVersion } from "./native-library.ts";
import type { NativeLibrary, Pointer } from "./native-library.ts";
import { networkOption } from "./native-options.ts";

export interface NativeNetworkOptions {
  readonly library: NativeLibrary;
  /** How this client shows in the status of its databases. */
  readonly logGroup: string;
  /** The network or the library is beyond help; the process must end. */
  readonly onBroken: (reason: string) => void;
}

export type Reader<T> = (future: Pointer) => T;

export class NativeNetwork {
  readonly library: NativeLibrary;
  readonly #waiting = new Map<number, () => void>();
  readonly #callback: Pointer;
  #nextId = 1;

  constructor({ library, logGroup, onBroken }: NativeNetworkOptions) {
    this.library = library;
    this.#check(library.selectApiVersion(apiVersion, apiVersion));
    // This process has one library of one version, so the layer that chooses between several is not wanted.
    this.#check(library.setNetworkOption(networkOption.disableMultiVersionClientApi, null, 0));
    const group = Buffer.from(logGroup);
    this.#check(library.setNetworkOption(networkOption.traceLogGroup, group, group.length));
    this.#check(library.setupNetwork());
    library.runNetwork((code) => onBroken(`the network stopped with code ${code}`));
    this.#callback = library.registerCallback((id) => {
      const ready = this.#waiting.get(id);
      this.#waiting.delete(id);
      ready?.();
    });
  }

  /**
   * Resolves when the future is ready; `over` is called then, before the future is given back. The library keeps its
   * time limits itself; when it does not, the operator notices that an answer is missing.
   */
  await<T>(future: Pointer, read: Reader<T>, over: () => void = () => {}): Promise<T> {
    const { library } = this;
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, () => {
        over();
        try {
          const code = library.futureError(future);
          if (code === 0) resolve(read(future));
          else reject(this.error(code));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        } finally {
          library.destroyFuture(future);
        }
      });
      this.#check(library.setCallback(future, this.#callback, id));
    });
  }

  integer(future: Pointer): number {
    const out: [number | bigint | null] = [null];
    this.#check(this.library.futureInteger(future, out));
    return Number(out[0]);
  }

  error(code: number): FdbError {
    return new FdbError(code, `${this.library.errorText(code)} (${code})`);
  }

  made(make: (out: [Pointer | null]) => number): Pointer {
    const out: [Pointer | null] = [null];
    this.#check(make(out));
    if (out[0] === null) throw new Error("the library gave no handle");
    return out[0];
  }

  #check(code: number): void {
    if (code !== 0) throw this.error(code);
  }
}
