// Typed calls to a Kubernetes API server over any transport. A refused call throws KubeError with the
// server's code, reason and causes; nothing is retried here, since only the caller knows whether that is
// right. Carries rules KUBE1 to KUBE9.
import { append } from "../env/long-lists.ts";
import type {
  CallOptions,
  DeleteOptions,
  ListOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from "./client-options.ts";
import { isKubeError } from "./error.ts";
import type { KubeList, KubeObject } from "./object.ts";
import { collectionPath, keyOf, objectPath } from "./path.ts";
import type { ObjectKey } from "./path.ts";
import { podLogQuery } from "./pod-exec.ts";
import type { PodLogOptions } from "./pod-exec.ts";
import { apiVersionOf, pods } from "./resource.ts";
import type { Resource } from "./resource.ts";
import { errorOfAnswer, isHistoryGone, isStatus } from "./status.ts";
import type { KubeRequest, KubeTransport, WatchEvent } from "./transport.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** What a request was and how it ended; `status` is 0 when no answer arrived. */
export interface RequestRecord {
  verb: Verb;
  resource: Resource<unknown>;
  subresource?: string;
  namespace?: string;
  name?: string;
  status: number;
}

export interface KubeClientOptions {
  userAgent: string;
  /** The owner of the fields we write; the server takes it from the user agent when absent. */
  fieldManager?: string;
  /** Called once for each request when it has ended (a watch: when it has ended too). */
  onRequest?: (record: RequestRecord) => void;
  /** Gets the server's warnings, for example about a deprecated field. */
  onWarning?: (text: string) => void;
}

const patchContentTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

interface Target {
  verb: Verb;
  resource: Resource<unknown>;
  subresource?: string;
  namespace?: string;
  name?: string;
}

export class KubeClient {
  readonly #transport: KubeTransport;
  readonly #options: KubeClientOptions;

  constructor(transport: KubeTransport, options: KubeClientOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  async get<T>(resource: Resource<T>, key: ObjectKey, options: CallOptions = {}): Promise<T> {
    const body = await this.#call(
      { verb: "get", resource, ...key },
      { method: "GET", path: objectPath(resource, key), signal: options.signal },
    );
    return withKind(resource, body);
  }

  /** Like get, but undefined when there is no such object. */
  async find<T>(
    resource: Resource<T>,
    key: ObjectKey,
    options: CallOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.get(resource, key, options);
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** One page; `metadata.continue` of the answer leads to the next. */
  async list<T>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const body = await this.#call(
      { verb: "list", resource, namespace: options.namespace },
      {
        method: "GET",
        path: collectionPath(resource, options.namespace),
        query: listQuery(options),
        signal: options.signal,
      },
    );
    const list = body as KubeList<T>;
    return { ...list, items: list.items.map((item) => withKind(resource, item)) };
  }

  /** All pages. When the server forgets the list half way, it is read again in one piece. */
  async listAll<T>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const items: T[] = [];
    let page = await this.list(resource, { limit: 500, ...options });
    while (true) {
      append(items, page.items);
      const next = page.metadata.continue;
      if (next === undefined || next === "") break;
      try {
        // The continue token fixes the version: naming one beside it is an error for the server.
        const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
        page = await this.list(resource, { limit: 500, ...rest, continue: next });
      } catch (error) {
        if (!isHistoryGone(error)) throw error;
        page = await this.list(resource, { ...options, limit: undefined });
        items.length = 0;
      }
    }
    return { items, resourceVersion: page.metadata.resourceVersion };
  }

  /** Resolves when the server ends the stream; see KubeTransport.watch. */
  async watch<T>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent) => void,
  ): Promise<void> {
    const target: Target = { verb: "watch", resource, namespace: options.namespace };
    const request: KubeRequest = {
      method: "GET",
      path: collectionPath(resource, options.namespace),
      query: watchQuery(options),
      signal: options.signal,
      userAgent: this.#options.userAgent,
    };
    try {
      await this.#transport.watch(request, onEvent);
      this.#record(target, 200);
    } catch (error) {
      this.#record(target, isKubeError(error) ? error.status : 0);
      throw error;
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const namespace = object.metadata.namespace;
    if (resource.isNamespaced && (namespace === undefined || namespace === "")) {
      throw new Error(`a ${resource.kind} cannot be created without a namespace`);
    }
    const body = await this.#call(
      { verb: "create", resource, namespace, name: object.metadata.name },
      {
        method: "POST",
        path: collectionPath(resource, namespace),
        query: this.#writeQuery(options),
        body: object,
        signal: options.signal,
      },
    );
    return withKind(resource, body);
  }

  /** Replaces the object; a resourceVersion in it makes a lost race a Conflict. */
  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#put(resource, object, undefined, options);
  }

  updateStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    // Who owns which field is the server's to say; our copy of it may be cut.
    const { managedFields: _, ...metadata } = object.metadata;
    return this.#put(resource, { ...object, metadata }, "status", options);
  }

  async patch<T>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const query = { ...this.#writeQuery(options), ...(options.force ? { force: "true" } : {}) };
    const body = await this.#call(
      { verb: "patch", resource, subresource: options.subresource, ...key },
      {
        method: "PATCH",
        path: objectPath(resource, key, options.subresource),
        query,
        body: patch,
        contentType: patchContentTypes[options.type],
        signal: options.signal,
      },
    );
    return withKind(resource, body);
  }

  /**
   * Resolves with the object when the server still has it (grace period, finalizers) or hands out its last
   * state, and with undefined when it answers only that the object is gone.
   */
  async delete<T>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const { gracePeriodSeconds, propagationPolicy, preconditions } = options;
    const body = await this.#call(
      { verb: "delete", resource, ...key },
      {
        method: "DELETE",
        path: objectPath(resource, key),
        query: options.dryRun ? { dryRun: "All" } : undefined,
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
          ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
          ...(preconditions === undefined ? {} : { preconditions }),
        },
        signal: options.signal,
      },
    );
    return isStatus(body) ? undefined : withKind(resource, body);
  }

  /** What a container wrote, both streams together. */
  async podLog(
    key: ObjectKey,
    options: CallOptions & PodLogOptions & { limitBytes: number },
  ): Promise<string> {
    const { signal } = options;
    const body = await this.#call(
      { verb: "get", resource: pods, subresource: "log", ...key },
      {
        method: "GET",
        path: objectPath(pods, key, "log"),
        query: podLogQuery(options),
        // Anything: the answer is plain text, an error is JSON.
        accept: "*/*",
        signal,
      },
    );
    return typeof body === "string" ? body : "";
  }

  /** Puts a pod on a node, as a scheduler does. */
  async bindPod(key: ObjectKey, nodeName: string, options: CallOptions = {}): Promise<void> {
    await this.#call(
      { verb: "create", resource: pods, subresource: "binding", ...key },
      {
        method: "POST",
        path: objectPath(pods, key, "binding"),
        body: {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name: key.name, namespace: key.namespace },
          target: { apiVersion: "v1", kind: "Node", name: nodeName },
        },
        signal: options.signal,
      },
    );
  }

  /** Asks for the pod's eviction; reason TooManyRequests when a disruption budget forbids it. */
  async evictPod(
    key: ObjectKey,
    options: CallOptions & { gracePeriodSeconds?: number } = {},
  ): Promise<void> {
    const { gracePeriodSeconds } = options;
    await this.#call(
      { verb: "create", resource: pods, subresource: "eviction", ...key },
      {
        method: "POST",
        path: objectPath(pods, key, "eviction"),
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name: key.name, namespace: key.namespace },
          ...(gracePeriodSeconds === undefined ? {} : { deleteOptions: { gracePeriodSeconds } }),
        },
        signal: options.signal,
      },
    );
  }

  async #put<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    subresource: string | undefined,
    options: WriteOptions,
  ): Promise<T> {
    const key = keyOf(object);
    const body = await this.#call(
      { verb: "update", resource, subresource, ...key },
      {
        method: "PUT",
        path: objectPath(resource, key, subresource),
        query: this.#writeQuery(options),
        body: object,
        signal: options.signal,
      },
    );
    return withKind(resource, body);
  }

  #writeQuery(options: WriteOptions): Record<string, string> {
    const fieldManager = options.fieldManager ?? this.#options.fieldManager;
    return {
      ...(fieldManager === undefined ? {} : { fieldManager }),
      ...(options.dryRun ? { dryRun: "All" } : {}),
      ...(options.fieldValidation === undefined
        ? {}
        : { fieldValidation: options.fieldValidation }),
    };
  }

  async #call(target: Target, request: KubeRequest): Promise<unknown> {
    let status = 0;
    try {
      const answer = await this.#transport.request({
        ...request,
        userAgent: this.#options.userAgent,
      });
      status = answer.status;
      for (const warning of answer.warnings ?? []) this.#options.onWarning?.(warning);
      if (answer.status >= 400) {
        throw errorOfAnswer(answer.status, answer.body, answer.retryAfterSeconds);
      }
      return answer.body;
    } finally {
      this.#record(target, status);
    }
  }

  #record(target: Target, status: number): void {
    this.#options.onRequest?.({ ...target, status });
  }
}

/** Items of a list come without apiVersion and kind from a real server; our objects always carry both. */
export function withKind<T>(resource: Resource<T>, body: unknown): T {
  const object = body as T & Partial<KubeObject>;
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function listQuery(options: ListOptions): Record<string, string> {
  return {
    ...selectorQuery(options),
    ...(options.limit === undefined ? {} : { limit: String(options.limit) }),
    ...(options.continue === undefined ? {} : { continue: options.continue }),
    ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
    ...(options.resourceVersionMatch === undefined
      ? {}
      : { resourceVersionMatch: options.resourceVersionMatch }),
  };
}

function watchQuery(options: WatchOptions): Record<string, string> {
  return {
    ...selectorQuery(options),
    watch: "true",
    resourceVersion: options.resourceVersion,
    ...(options.allowWatchBookmarks ? { allowWatchBookmarks: "true" } : {}),
    ...(options.timeoutSeconds === undefined
      ? {}
      : { timeoutSeconds: String(options.timeoutSeconds) }),
  };
}

function selectorQuery(options: {
  labelSelector?: string;
  fieldSelector?: string;
}): Record<string, string> {
  return {
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };
}
