// The term of a leader as a fence around its writes: none begins when the term is over, and none is under way for longer
// than it lasts, to the API server and to the database alike. A request that hangs is given up when another instance may
// lead. Rules: spec/run.md [RUN28], [RUN29].
import type { Clock } from "../env/clock.ts";
import type { AdminClient, AdminClientFactory } from "../fdb/admin.ts";
import { FdbError } from "../fdb/error.ts";
import { KubeError } from "../kube/error.ts";
import type { KubeRequest, KubeTransport } from "../kube/transport.ts";

/** How long we are certainly the only one; 0 when the term is over. */
export interface TermLeft {
  remainingMs(): number;
}

const overText = "our term as leader is over";

/** Reading is free: what somebody reads after the term harms nobody. */
export function fencedTransport(
  transport: KubeTransport,
  clock: Pick<Clock, "setTimer">,
  term: TermLeft,
): KubeTransport {
  return {
    watch: (request, onEvent) => transport.watch(request, onEvent),
    async request(request) {
      if (request.method === "GET") return transport.request(request);
      if (term.remainingMs() <= 0) throw new KubeError(0, "Aborted", overText);
      const ending = new AbortController();
      const over = Promise.withResolvers<never>();
      // Nobody may listen any more when it ends.
      over.promise.catch(() => {});
      const watchTerm = (): { cancel(): void } => {
        const timer = clock.setTimer(term.remainingMs(), () => {
          // The term was renewed meanwhile.
          if (term.remainingMs() > 0) return void (current = watchTerm());
          ending.abort();
          return over.reject(new KubeError(0, "Aborted", overText));
        });
        return timer;
      };
      let current = watchTerm();
      try {
        return await Promise.race([
          transport.request(fencedRequest(request, ending)),
          over.promise,
        ]);
      } finally {
        current.cancel();
      }
    },
  };
}

function fencedRequest(request: KubeRequest, ending: AbortController): KubeRequest {
  const signals = request.signal === undefined ? [] : [request.signal];
  return { ...request, signal: AbortSignal.any([...signals, ending.signal]) };
}

/** Commands and transactions get no more time than the term has left; statuses are free. */
export function fencedAdmin(factory: AdminClientFactory, term: TermLeft): AdminClientFactory {
  return {
    isVersionSupported: (version) => factory.isVersionSupported(version),
    installedVersions: () => factory.installedVersions(),
    open: (options) => fencedClient(factory.open(options), term),
  };
}

function fencedClient(client: AdminClient, term: TermLeft): AdminClient {
  const within = async <T>(timeoutMs: number, act: (limitMs: number) => Promise<T>): Promise<T> => {
    const leftMs = term.remainingMs();
    if (leftMs <= 0) throw new FdbError(cancelled, overText);
    return act(Math.min(timeoutMs, leftMs));
  };
  return {
    status: (timeoutMs) => client.status(timeoutMs),
    excluded: (timeoutMs) => client.excluded(timeoutMs),
    exclusionsInProgress: (timeoutMs) => client.exclusionsInProgress(timeoutMs),
    connectionString: (timeoutMs) => client.connectionString(timeoutMs),
    configure: (text, timeoutMs) => within(timeoutMs, (limitMs) => client.configure(text, limitMs)),
    // One that waits changes nothing any more, and is given up without harm at any time.
    exclude: (targets, options) =>
      options.wait
        ? client.exclude(targets, options)
        : within(options.timeoutMs, (timeoutMs) =>
            client.exclude(targets, { ...options, timeoutMs }),
          ),
    include: (targets, timeoutMs) =>
      within(timeoutMs, (limitMs) => client.include(targets, limitMs)),
    kill: (addresses, timeoutMs) => within(timeoutMs, (limitMs) => client.kill(addresses, limitMs)),
    changeCoordinators: (addresses, timeoutMs) =>
      within(timeoutMs, (limitMs) => client.changeCoordinators(addresses, limitMs)),
    setMaintenanceZone: (zone, seconds, timeoutMs) =>
      within(timeoutMs, (limitMs) => client.setMaintenanceZone(zone, seconds, limitMs)),
    resetMaintenanceZone: (timeoutMs) =>
      within(timeoutMs, (limitMs) => client.resetMaintenanceZone(limitMs)),
    transact: (body, options) =>
      within(options.timeoutMs, (timeoutMs) => client.transact(body, { ...options, timeoutMs })),
    close: () => client.close(),
  };
}

const cancelled = 1025;
