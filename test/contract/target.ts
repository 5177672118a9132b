// What a contract case works with: one Kubernetes API server, real or emulated, seen through the same
// transport, and a namespace of its own. Expectations are literal values, so both servers must agree.
import assert from "node:assert/strict";
import type { PodStreams } from "../../src/kube/pod-exec.ts";
import type { KubeResponse, KubeTransport, WatchEvent } from "../../src/kube/transport.ts";
import { resourcePath } from "./resource-path.ts";

/** The part that differs between the servers. */
export interface TargetBase {
  readonly kind: "emulator" | "real";
  readonly transport: KubeTransport;
  readonly pods: PodStreams;
  /** Lets some time pass: real time on a real server, virtual time on the emulator. */
  pause(): Promise<void>;
  /** How many pauses are made before something is taken to never happen. */
  readonly pausesMax: number;
  /** Makes the server forget its history up to the present. */
  compact(): Promise<void>;
  /** Ends what was started for this case alone. */
  end(): Promise<void>;
}

export type Json = Record<string, unknown>;
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type PatchKind = "merge" | "json" | "strategic" | "apply";

export interface RequestOptions {
  query?: Record<string, string>;
  contentType?: string;
}

export interface Refusal {
  status: number;
  reason: string;
  message?: string | RegExp;
  causes?: readonly Cause[];
}

/** Only the parts that are given are compared. */
export interface Cause {
  field?: string;
  reason?: string;
  message?: string;
}

export interface Watching {
  readonly events: WatchEvent[];
  /** Resolves with the events once there are `count` of them. */
  until(count: number): Promise<WatchEvent[]>;
  /** Set when the server refused the watch or ended it with an error. */
  failure(): Promise<unknown>;
  stop(): Promise<void>;
}

const contentTypes: Record<PatchKind, string> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

export const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

export class Target {
  readonly kind: "emulator" | "real";
  readonly namespace: string;
  readonly #base: TargetBase;

  constructor(base: TargetBase, namespace: string) {
    this.kind = base.kind;
    this.namespace = namespace;
    this.#base = base;
  }

  get pods(): PodStreams {
    return this.#base.pods;
  }

  get transport(): KubeTransport {
    return this.#base.transport;
  }

  /** A name that no other case uses, for objects outside namespaces. */
  unique(name: string): string {
    return `${name}-${this.namespace}`;
  }

  /** The path of a resource, or of an object and its subresource, in this case's namespace. */
  path(plural: string, name?: string, subresource?: string): string {
    return resourcePath(plural, this.namespace, name, subresource);
  }

  send(
    method: Method,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<KubeResponse> {
    return this.#base.transport.request({
      method,
      path,
      body,
      query: options.query,
      contentType: options.contentType,
      userAgent: "contract/1.0",
    });
  }

  async expect(
    status: number,
    method: Method,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Json> {
    const response = await this.send(method, path, body, options);
    const found = JSON.stringify(response.body);
    assert.equal(response.status, status, `${method} ${path} gave ${response.status}: ${found}`);
    return jsonOf(response.body);
  }

  create(path: string, body: unknown, query?: Record<string, string>): Promise<Json> {
    return this.expect(201, "POST", path, body, { query });
  }

  get(path: string, query?: Record<string, string>): Promise<Json> {
    return this.expect(200, "GET", path, undefined, { query });
  }

  /** The server's own table of a list or an object, as `kubectl get` asks for it. */
  async table(path: string): Promise<Json> {
    const response = await this.#base.transport.request({ method: "GET", path, accept: tableType });
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return jsonOf(response.body);
  }

  replace(path: string, body: unknown, query?: Record<string, string>): Promise<Json> {
    return this.expect(200, "PUT", path, body, { query });
  }

  patch(
    kind: PatchKind,
    path: string,
    body: unknown,
    query?: Record<string, string>,
  ): Promise<Json> {
    return this.expect(200, "PATCH", path, body, { query, contentType: contentTypes[kind] });
  }

  /** Server-side apply: creates (201) or changes (200). */
  async apply(path: string, body: unknown, manager: string, isForced = false): Promise<Json> {
    const response = await this.sendApply(path, body, manager, isForced);
    const found = JSON.stringify(response.body);
    assert.ok(response.status < 300, `apply ${path} gave ${response.status}: ${found}`);
    return jsonOf(response.body);
  }

  sendApply(path: string, body: unknown, manager: string, isForced = false): Promise<KubeResponse> {
    const query = { fieldManager: manager, ...(isForced ? { force: "true" } : {}) };
    return this.send("PATCH", path, body, { query, contentType: contentTypes.apply });
  }

  delete(path: string, options?: Json): Promise<Json> {
    const body = options && { apiVersion: "v1", kind: "DeleteOptions", ...options };
    return this.expect(200, "DELETE", path, body);
  }

  async refused(
    refusal: Refusal,
    method: Method,
    path: string,
    body?: unknown,
    options: RequestOptions & { patch?: PatchKind } = {},
  ): Promise<Json> {
    const contentType = options.patch ? contentTypes[options.patch] : options.contentType;
    const response = await this.send(method, path, body, { query: options.query, contentType });
    return assertRefusal(response, refusal);
  }

  async names(path: string, query?: Record<string, string>): Promise<string[]> {
    const list = await this.get(path, query);
    return itemsOf(list).map((item) => String(at(item, "metadata.name")));
  }

  /** Asks until there is an answer other than undefined. */
  async eventually<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < this.#base.pausesMax; tries += 1) {
      const answer = await read();
      if (answer !== undefined) return answer;
      await this.#base.pause();
    }
    throw new Error(`never seen: ${what}`);
  }

  /** Asks until the parts of the object are as expected; shows the difference when they never are. */
  async becomes(path: string, expected: Json): Promise<Json> {
    let last: Json = {};
    for (let tries = 0; tries < this.#base.pausesMax; tries += 1) {
      last = await this.get(path);
      try {
        assert.deepEqual(pick(last, ...Object.keys(expected)), expected);
        return last;
      } catch {
        await this.#base.pause(); // Not there yet; the last comparison below reports the difference.
      }
    }
    assert.deepEqual(pick(last, ...Object.keys(expected)), expected);
    return last;
  }

  gone(path: string): Promise<boolean> {
    return this.eventually(`${path} is gone`, async () => {
      const response = await this.send("GET", path);
      return response.status === 404 ? true : undefined;
    });
  }

  pause(): Promise<void> {
    return this.#base.pause();
  }

  compact(): Promise<void> {
    return this.#base.compact();
  }

  end(): Promise<void> {
    return this.#base.end();
  }

  async createNamespace(): Promise<void> {
    await this.create("/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: this.namespace },
    });
  }

  watch(path: string, query: Record<string, string> = {}, accept?: string): Watching {
    const events: WatchEvent[] = [];
    const stopper = new AbortController();
    let failure: unknown;
    let hasEnded = false;
    const ended = this.#base.transport
      .watch(
        {
          method: "GET",
          path,
          query: { watch: "true", ...query },
          signal: stopper.signal,
          accept,
          userAgent: "contract/1.0",
        },
        (event) => events.push(event),
      )
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        hasEnded = true;
      });
    return {
      events,
      until: (count) =>
        this.eventually(`${count} events on ${path}: ${JSON.stringify(events)}`, async () => {
          if (events.length >= count) return events;
          if (hasEnded) throw new Error(`the watch ended early: ${String(failure)}`);
          return undefined;
        }),
      failure: async () => {
        await this.eventually("the end of the watch", async () => hasEnded || undefined);
        return failure;
      },
      stop: async () => {
        stopper.abort();
        await ended;
      },
    };
  }
}

export function assertRefusal(response: KubeResponse, refusal: Refusal): Json {
  const body = jsonOf(response.body);
  const shown = JSON.stringify(body);
  assert.equal(response.status, refusal.status, shown);
  assert.equal(body["kind"], "Status", shown);
  assert.equal(body["status"], "Failure", shown);
  assert.equal(body["code"], refusal.status, shown);
  assert.equal(body["reason"] ?? "", refusal.reason, shown);
  if (refusal.message !== undefined) assertText(body["message"], refusal.message);
  if (refusal.causes !== undefined)
    assertCauses(asList(at(body, "details.causes")), refusal.causes);
  return body;
}

/** Servers name the causes of one refusal in any order, so both sides are sorted by field. */
function assertCauses(found: readonly unknown[], expected: readonly Cause[]): void {
  const wanted = expected.toSorted(byField);
  const parts = found
    .map((cause): Cause => pick(cause, "field", "reason", "message"))
    .toSorted(byField)
    .map((cause, index) => pick(cause, ...Object.keys(wanted[index] ?? cause)));
  assert.deepEqual(parts, wanted, JSON.stringify(found));
}

function byField(left: Cause, right: Cause): number {
  return compare(left.field ?? "", right.field ?? "");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function assertText(found: unknown, expected: string | RegExp): void {
  if (expected instanceof RegExp) assert.match(String(found), expected);
  else assert.equal(found, expected);
}

/** The index of OpenAPI documents comes as plain text, so a text is read as JSON first. */
export function jsonOf(answer: unknown): Json {
  const value: unknown = typeof answer === "string" ? JSON.parse(answer) : answer;
  assert.ok(isJson(value), `not an object: ${String(value)}`);
  return value;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function itemsOf(list: Json): Json[] {
  return asList(list["items"]).map(jsonOf);
}

/** The value at a dotted path; list items by their index, keys with dots in double quotes. */
export function at(value: unknown, path: string): unknown {
  let current = value;
  for (const part of path.match(/"[^"]*"|[^.]+/g) ?? []) {
    if (!isJson(current)) return undefined;
    current = current[part.replaceAll('"', "")];
  }
  return current;
}

export function text(value: unknown, path: string): string {
  const found = at(value, path);
  assert.equal(typeof found, "string", `${path} is ${JSON.stringify(found)}`);
  return String(found);
}

/** The given parts, each under its path; a part that is not there is left out of the result. */
export function pick(value: unknown, ...paths: string[]): Json {
  const found: Json = {};
  for (const path of paths) {
    const part = at(value, path);
    found[path] = part;
  }
  return found;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const uidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Without the parts that differ from run to run: versions go, times and uids become words. */
export function normal(value: unknown): unknown {
  if (typeof value === "string") {
    if (timePattern.test(value)) return "TIME";
    return uidPattern.test(value) ? "UID" : value;
  }
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  const parts: Json = {};
  for (const [key, part] of Object.entries(value)) {
    if (key !== "resourceVersion" && key !== "managedFields") parts[key] = normal(part);
  }
  return parts;
}
