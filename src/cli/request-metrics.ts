// Counts the requests to the API server by what was asked and how it ended. Rules: spec/run.md [RUN32].
import type { MetricsRegistry } from "../env/metrics.ts";
import type { RequestRecord } from "../kube/client.ts";

/** Gives what takes note of a request that has ended. */
export function registerRequestMetrics(registry: MetricsRegistry): (record: RequestRecord) => void {
  const requests = registry.counter(
    "fdb_operator_kubernetes_requests_total",
    "Requests to the API server that have ended; code 0 is one without an answer.",
    { verb: [], resource: [], code: [] },
  );
  return ({ verb, resource, subresource, status }) => {
    const name = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
    requests.add({ verb, resource: name, code: String(status) });
  };
}
