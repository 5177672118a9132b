// The databases that a client process has open, by number. What is wrong with one of them is told to its own callers.
// Rules: spec/real-database.md [DB50], [DB53].
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

export class OpenDatabases {
  readonly #options: OpenDatabasesOptions;
  /** An error is why a database could not be opened. */
  readonly #databases = new Map<number, OpenedDatabase | Error>();

  constructor(options: OpenDatabasesOptions) {
    this.#options = options;
  }

  take(message: ParentMessage): void {
    switch (message.type) {
      case "open":
        this.#databases.set(message.database, this.#opened(message));
        return;
      case "close":
        return this.#close(message.database);
      case "forget":
        return this.#find(message.database)?.tools.transactions.forget(message.transaction);
      case "call":
        void this.#answer(message);
    }
  }

  #opened(message: ChildOpen): OpenedDatabase | Error {
    try {
      return this.#options.open(message);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #close(database: number): void {
    const found = this.#find(database);
    this.#databases.delete(database);
    found?.tools.transactions.forgetAll();
    found?.close();
  }

  #find(database: number): OpenedDatabase | undefined {
    const found = this.#databases.get(database);
    return found instanceof Error ? undefined : found;
  }

  async #answer(request: ChildRequest): Promise<void> {
    const { id, database } = request;
    const { send } = this.#options;
    if (request.name === "ping") return send({ type: "answer", id, output: ownMemory() });
    const found = this.#databases.get(database);
    try {
      if (found === undefined) throw new Error(`there is no database ${database}`);
      if (found instanceof Error) throw found;
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
