// The databases that a client process has open, by number. What is wrong with one of them is told to its own callers.
// Rules: spec/real-database.md [DB50], [DB53], [DB58].
import { FdbError } from "../error.ts";
import { answerCall, ownMemory } from "./answer-call.ts";
import type { CallTools } from "./answer-call.ts";
import type { ChildMessage, ChildOpen, ChildRequest, ParentMessage } from "./child-messages.ts";

export interface OpenedDatabase {
  readonly tools: CallTools;
  close(): void;
}

export interface OpenDatabasesOptions {
  readonly open: (message: ChildOpen) => OpenedDatabase;
  readonly send: (message: ChildMessage) => void;
}

/** Why a database could not be opened, and what was to be opened. */
interface Unopened {
  readonly error: Error;
  readonly message: ChildOpen;
}

export class OpenDatabases {
  readonly #options: OpenDatabasesOptions;
  readonly #databases = new Map<number, OpenedDatabase | Unopened>();

  constructor(options: OpenDatabasesOptions) {
    this.#options = options;
  }

  take(message: ParentMessage): void {
    switch (message.type) {
      case "open":
        this.#open(message);
        return;
      case "close":
        return this.#close(message.database);
      case "forget":
        return this.#find(message.database)?.tools.transactions.forget(message.transaction);
      case "call":
        void this.#answer(message);
    }
  }

  #open(message: ChildOpen): OpenedDatabase | Unopened {
    const opened = this.#opened(message);
    this.#databases.set(message.database, opened);
    return opened;
  }

  #opened(message: ChildOpen): OpenedDatabase | Unopened {
    try {
      return this.#options.open(message);
    } catch (thrown) {
      return { error: thrown instanceof Error ? thrown : new Error(String(thrown)), message };
    }
  }

  /** What could not be opened may be opened by now: a disk that was full has room again. */
  #asked(database: number): OpenedDatabase | Unopened | undefined {
    const found = this.#databases.get(database);
    return found !== undefined && "error" in found ? this.#open(found.message) : found;
  }

  #close(database: number): void {
    const found = this.#find(database);
    this.#databases.delete(database);
    found?.tools.transactions.forgetAll();
    found?.close();
  }

  #find(database: number): OpenedDatabase | undefined {
    const found = this.#databases.get(database);
    return found === undefined || "error" in found ? undefined : found;
  }

  async #answer(request: ChildRequest): Promise<void> {
    const { id, database } = request;
    const { send } = this.#options;
    if (request.name === "ping") return send({ type: "answer", id, output: ownMemory() });
    const found = this.#asked(database);
    try {
      if (found === undefined) throw new Error(`there is no database ${database}`);
      if ("error" in found) throw found.error;
      const answer = await answerCall(found.tools, request);
      if (this.#databases.get(database) === found) send(answer);
    } catch (error) {
      // Whoever closed it does not wait for an answer.
      if (found !== undefined && this.#databases.get(database) !== found) return;
      const code = error instanceof FdbError ? error.code : 0;
      send({ type: "failure", id, code, message: (error as Error).message });
    }
  }
}
