// Counts the requests to the API server by what was asked and how it ended. Rules: spec/run.md [RUN32].
import type { MetricsRegistry } from "../env/metrics.ts";
import type { RequestRecord } from "../kube/client.ts";
import { runtimeMetrics } from "../model/metrics/operator.ts";

/** Gives what takes note of a request that has ended. */
export function registerRequestMetrics(registry: MetricsRegistry): (record: RequestRecord) => void {
  const requests = registry.counter(runtimeMetrics.requests);
  return ({ verb, resource, subresource, status }) => {
    const name = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
    requests.add({ verb, resource: name, code: String(status) });
  };
}
