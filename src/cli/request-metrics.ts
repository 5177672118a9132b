// Counts the requests to the API server by what was asked and how it ended. Rules: spec/run.md [RUN32].
import type { MetricsRegistry } from "../env/metrics.ts";
import type { RequestRecord } from "../kube/client.ts";
import { runtimeMetrics } from "../model/metrics/operator.ts";

export interface RequestMetrics {
  /** Takes note of a request that has ended. */
  onRequest: (record: RequestRecord) => void;
  /** Takes note of bytes of an answer. */
  onReceived: (bytes: number) => void;
}

export function registerRequestMetrics(registry: MetricsRegistry): RequestMetrics {
  const requests = registry.counter(runtimeMetrics.requests);
  const received = registry.counter(runtimeMetrics.received);
  return {
    onRequest: ({ verb, resource, subresource, status }) => {
      const name =
        subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
      requests.add({ verb, resource: name, code: String(status) });
    },
    onReceived: (bytes) => received.add({}, bytes),
  };
}
