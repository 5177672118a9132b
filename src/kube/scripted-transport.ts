// A transport whose answers a test writes down in advance, one handler a request in the order of arrival.
// It records what was asked, so that a test can say what a client does in a situation no real server
// produces on demand: a cut stream, a forgotten history, a stale list.
import { KubeError } from "./error.ts";
import type { KubeRequest, KubeResponse, KubeTransport, WatchEvent } from "./transport.ts";

/** An open watch in the hands of the test. */
export interface ScriptedWatch {
  request: KubeRequest;
  send(type: WatchEvent["type"], object: unknown): void;
  /** The server ends the stream in good order. */
  end(): void;
  fail(error: KubeError): void;
}

export type AnswerHandler = (request: KubeRequest) => KubeResponse | Promise<KubeResponse>;

export class ScriptedTransport implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  readonly watches: ScriptedWatch[] = [];
  /** Refusals of the next watches, in order; an undefined entry lets that watch through. */
  readonly watchRefusals: (KubeError | undefined)[] = [];
  readonly #answers: AnswerHandler[];

  /** The last handler answers all further requests. */
  constructor(...answers: AnswerHandler[]) {
    this.#answers = answers;
  }

  async request(request: KubeRequest): Promise<KubeResponse> {
    this.requests.push(request);
    const handler = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    if (handler === undefined) throw new KubeError(0, "Unreachable", "the script has no answer");
    return handler(request);
  }

  watch(request: KubeRequest, onEvent: (event: WatchEvent) => void): Promise<void> {
    const refusal = this.watchRefusals.shift();
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener("abort", () => resolve(), { once: true });
      this.watches.push({
        request,
        send: (type, object) => onEvent({ type, object }),
        end: resolve,
        fail: reject,
      });
    });
  }

  /** The watch opened last. */
  get lastWatch(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (watch === undefined) throw new Error("no watch was opened");
    return watch;
  }
}

/** A list answer; `next` is its continue token. */
export function listAnswer(
  items: readonly unknown[],
  resourceVersion: string,
  next?: string,
): KubeResponse {
  const metadata = next === undefined ? { resourceVersion } : { resourceVersion, continue: next };
  return { status: 200, body: { apiVersion: "v1", kind: "List", metadata, items } };
}

/** A refusal as a server words it. */
export function statusAnswer(
  code: number,
  reason: string,
  message: string,
  details?: unknown,
): KubeResponse {
  return {
    status: code,
    body: {
      apiVersion: "v1",
      kind: "Status",
      status: "Failure",
      metadata: {},
      code,
      reason,
      message,
      details,
    },
  };
}
