// A client process played in the test's own process: it says and does what a script tells, in virtual time. Tests only.
import type { ChildHandle } from "./child-handle.ts";
import type { ChildRequest } from "./child-messages.ts";

export class ScriptedChild implements ChildHandle {
  readonly requests: ChildRequest[] = [];
  readonly forgotten: number[] = [];
  isKilled = false;
  #heard: ((message: unknown) => void)[] = [];
  #ended: ((reason: string) => void)[] = [];
  #isOver = false;
  readonly #onRequest: (child: ScriptedChild, request: ChildRequest) => void;

  /** `onRequest` answers, or does not. */
  constructor(onRequest: (child: ScriptedChild, request: ChildRequest) => void = () => {}) {
    this.#onRequest = onRequest;
  }

  send(message: unknown): boolean {
    if (this.#isOver) return false;
    const { type } = message as { type: string };
    if (type === "forget") {
      this.forgotten.push((message as { input: { transaction: number } }).input.transaction);
    } else if (type === "call") {
      const request = message as ChildRequest;
      if (request.name !== "ping") this.requests.push(request);
      queueMicrotask(() => this.#onRequest(this, request));
    }
    return true;
  }

  onMessage(heard: (message: unknown) => void): void {
    this.#heard.push(heard);
  }

  onEnd(ended: (reason: string) => void): void {
    this.#ended.push(ended);
  }

  kill(): void {
    this.isKilled = true;
    this.#isOver = true;
  }

  say(message: unknown): void {
    for (const heard of this.#heard) heard(message);
  }

  ready(): void {
    this.say({ type: "ready", version: "7.3.79" });
  }

  answer(request: ChildRequest, output: unknown): void {
    this.say({ type: "answer", id: request.id, output });
  }

  fail(request: ChildRequest, code: number, message = `code ${code}`): void {
    this.say({ type: "failure", id: request.id, code, message });
  }

  crash(reason = "it was ended by SIGSEGV"): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const ended of this.#ended) ended(reason);
  }
}

/** Answers pings as a child in good health does, and leaves the rest to the script. */
export function healthy(
  onRequest: (child: ScriptedChild, request: ChildRequest) => void = () => {},
  rssBytes = 50_000_000,
): (child: ScriptedChild, request: ChildRequest) => void {
  return (child, request) => {
    if (request.name === "ping") child.answer(request, { rssBytes });
    else onRequest(child, request);
  };
}
