// A server with a clock that is moved by hand, and short ways to ask it. For tests only.
import { strict as assert } from "node:assert";
import { seededRandom } from "../env/random.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import type { KubeRequest, WatchEvent } from "../kube/transport.ts";
import { createApiServer, type ApiServer, type ApiServerOptions } from "./api-server.ts";
import { valueAt, type JsonObject } from "./json.ts";

/** Lets everything run that waits for microtasks only. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await Promise.resolve();
}

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

interface AskOptions {
  query?: Record<string, string>;
  patch?: keyof typeof patchTypes;
  status?: number;
  accept?: string;
}

export class TestServer {
  readonly clock = new VirtualClock();
  readonly api: ApiServer;

  constructor(options: Partial<ApiServerOptions> = {}) {
    this.api = createApiServer({ clock: this.clock, random: seededRandom(1), ...options });
  }

  /** Sends a request, checks its status when one is given, and returns the body. */
  async ask(
    method: KubeRequest["method"],
    path: string,
    body?: unknown,
    options: AskOptions = {},
  ): Promise<JsonObject> {
    const contentType = options.patch === undefined ? undefined : patchTypes[options.patch];
    const response = await this.api.transport("tester").request({
      ...{ method, path, body },
      ...(options.query === undefined ? {} : { query: options.query }),
      ...(options.accept === undefined ? {} : { accept: options.accept }),
      ...(contentType === undefined ? {} : { contentType }),
    });
    const expected = options.status ?? (method === "POST" ? 201 : undefined);
    if (expected !== undefined) {
      assert.equal(response.status, expected, JSON.stringify(response.body));
    } else assert.ok(response.status < 300, JSON.stringify(response.body));
    return response.body as JsonObject;
  }

  watch(path: string, query: Record<string, string> = {}): Watched {
    const stop = new AbortController();
    const events: WatchEvent[] = [];
    const request: KubeRequest = {
      method: "GET",
      path,
      query: { watch: "true", ...query },
      signal: stop.signal,
    };
    const ended = this.api.transport("tester").watch(request, (event) => events.push(event));
    return { events, ended, stop: () => stop.abort() };
  }
}

export interface Watched {
  events: WatchEvent[];
  ended: Promise<void>;
  stop: () => void;
}

export const inDefault = (plural: string): string => `/api/v1/namespaces/default/${plural}`;

export function summary(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${String(valueAt(object, "metadata", "name"))}`);
}

export function configMap(
  name: string,
  data: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function pod(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const containers = [{ name: "main", image: "image:1" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers, ...spec },
  };
}

export const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const toysPath = "/apis/example.com/v1/namespaces/default/toys";

/** A small definition with a status, defaults, a keyed list and a rule. */
export function toyDefinition(): JsonObject {
  const parts = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, size: { type: "integer", default: 1 } },
    },
  };
  const spec = {
    type: "object",
    required: ["color"],
    properties: {
      color: { type: "string", enum: ["red", "blue"] },
      count: { type: "integer", default: 3 },
      parts,
    },
    "x-kubernetes-validations": [{ rule: "self.count < 100", message: "too many" }],
  };
  const status = { type: "object", properties: { phase: { type: "string" } } };
  return {
    metadata: { name: "toys.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "toys", kind: "Toy", shortNames: ["ty"] },
      versions: [
        {
          ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
          additionalPrinterColumns: [
            { name: "Color", type: "string", jsonPath: ".spec.color" },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
        },
      ],
    },
  };
}

export function toy(name: string, spec: JsonObject): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Toy", metadata: { name }, spec };
}
