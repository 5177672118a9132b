// The emulated Kubernetes API server. In process it is a KubeTransport without HTTP: requests run to their
// end in one microtask, and nothing but the given clock and random decides what happens. [KAS1]
import type { Clock } from "../env/clock.ts";
import { silentLog, type Log } from "../env/log.ts";
import type { Random } from "../env/random.ts";
import { KubeError } from "../kube/error.ts";
import type { PodStreams } from "../kube/pod-exec.ts";
import type { KubeResponse, KubeRequest, KubeTransport, WatchEvent } from "../kube/transport.ts";
import { checkAccess } from "./authorization.ts";
import { protectClaims } from "./claim-protection.ts";
import { serveCustomKinds } from "./crd-registry.ts";
import { collectGarbage } from "./garbage-collector.ts";
import { handleRequest, type ServerRequest } from "./handler.ts";
import type { JsonObject } from "./json.ts";
import { inProcessPods } from "./in-process-pods.ts";
import { KindRegistry } from "./kind-registry.ts";
import { keepNamespaces } from "./namespace-lifecycle.ts";
import { openWatch } from "./open-watch.ts";
import { eventsInForm } from "./representation.ts";
import { parseResourcePath } from "./request-path.ts";
import { RequestCounters } from "./request-counters.ts";
import { internalWrite, type ServerContext } from "./server-context.ts";
import { pathNotFound, StatusError } from "./status.ts";
import { Store } from "./store.ts";
import type { Watch } from "./watch.ts";
import { createObject } from "./write.ts";

export interface ApiServerOptions {
  clock: Clock;
  random: Random;
  log?: Log;
  /** How many changes watches can look back; older ones count as compacted. */
  historyLimit?: number;
  /** Where the addresses of services come from, 0 unless it shares a network with others. */
  addressBlock?: number;
}

export interface ApiServer {
  /** A client in the same process. Objects that it receives are the server's own, frozen. */
  transport(userName?: string): KubeTransport;
  /** What runs inside pods, for a client in the same process. */
  pods(userName?: string): PodStreams;
  /** How often each verb was used on each resource. */
  readonly requests: RequestCounters;
  readonly context: ServerContext;
  /** Answers one request at once; the HTTPS server calls it. */
  handle(request: ServerRequest): KubeResponse;
  /** Opens a watch; throws StatusError when it is refused. */
  openWatch(request: ServerRequest, onEvent: (event: WatchEvent) => void, onEnd: () => void): Watch;
  /** Forgets the history, as etcd's compaction does: older watches and pages get 410. */
  compact(): void;
  /** Ends all watches and refuses further requests. */
  stop(): void;
}

const defaultHistoryLimit = 10_000;
const firstNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

export function createApiServer(options: ApiServerOptions): ApiServer {
  const context: ServerContext = {
    store: new Store(options.historyLimit ?? defaultHistoryLimit),
    registry: new KindRegistry(),
    clock: options.clock,
    random: options.random,
    log: options.log ?? silentLog,
    addressBlock: options.addressBlock ?? 0,
  };
  const requests = new RequestCounters();
  const watches = new Set<Watch>();
  let isStopped = false;
  serveCustomKinds(context);
  keepNamespaces(context);
  protectClaims(context);
  collectGarbage(context);
  createFirstNamespaces(context);
  const server: ApiServer = {
    requests,
    context,
    transport: (userName) => inProcessTransport(server, userName, () => isStopped),
    pods: (userName) => inProcessPods(context, userName, () => isStopped),
    handle(request) {
      requests.count(request);
      const dateMs = Math.floor(context.clock.nowMs() / 1000) * 1000;
      return { ...handleRequest(context, request), dateMs };
    },
    openWatch(request, onEvent, onEnd) {
      requests.count(request);
      const watch = startWatch(context, request, onEvent, () => {
        watches.delete(watch);
        onEnd();
      });
      watches.add(watch);
      return watch;
    },
    compact: () => context.store.compact(),
    stop() {
      isStopped = true;
      for (const watch of watches) watch.end();
    },
  };
  return server;
}

function createFirstNamespaces(context: ServerContext): void {
  const kind = context.registry.find("", "v1", "namespaces");
  if (kind === undefined) return;
  for (const name of firstNamespaces) {
    const namespace: JsonObject = { metadata: { name } };
    createObject(context, kind, "", namespace, internalWrite("kube-apiserver"));
  }
}

function startWatch(
  context: ServerContext,
  request: ServerRequest,
  onEvent: (event: WatchEvent) => void,
  onEnd: () => void,
): Watch {
  const path = parseResourcePath(request.path);
  const kind = path && context.registry.find(path.group, path.version, path.plural);
  if (path === undefined || kind === undefined) throw pathNotFound();
  checkAccess(context, request, path, kind);
  const target = { kind, namespace: path.namespace, name: path.name };
  const onFormed = eventsInForm(context, request, onEvent);
  return openWatch(context, target, request.query ?? {}, onFormed, onEnd).watch;
}

function inProcessTransport(
  server: ApiServer,
  userName: string | undefined,
  isStopped: () => boolean,
): KubeTransport {
  const asUser = (request: KubeRequest): ServerRequest =>
    userName === undefined ? request : { ...request, userName };
  return {
    async request(request) {
      // The caller goes on first, as it would with a network between.
      await Promise.resolve();
      checkReachable(request, isStopped());
      return server.handle(asUser(request));
    },
    async watch(request, onEvent) {
      await Promise.resolve();
      if (request.signal?.aborted) return;
      checkReachable(request, isStopped());
      const ended = Promise.withResolvers<void>();
      const watch = openOrRefuse(server, asUser(request), onEvent, ended.resolve);
      const abort = (): void => watch.abort();
      request.signal?.addEventListener("abort", abort, { once: true });
      await ended.promise;
      request.signal?.removeEventListener("abort", abort);
    },
  };
}

function checkReachable(request: KubeRequest, isStopped: boolean): void {
  if (request.signal?.aborted) throw new KubeError(0, "Aborted", "the request was aborted");
  if (isStopped) throw new KubeError(0, "Unreachable", "the API server is stopped");
}

function openOrRefuse(
  server: ApiServer,
  request: ServerRequest,
  onEvent: (event: WatchEvent) => void,
  onEnd: () => void,
): Watch {
  try {
    return server.openWatch(request, onEvent, onEnd);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new KubeError(error.code, error.reason, error.message, error.details?.causes ?? []);
  }
}
