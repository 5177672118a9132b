// Metrics in Prometheus' text form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { counterOf, gaugeOf, histogramOf } from "./metric-description.ts";
import { MetricsRegistry } from "./metrics.ts";

test("[KUBE72] known label values exist at 0 from the start", () => {
  const metrics = new MetricsRegistry();
  const requests = metrics.counter(counterOf("requests_total", "Requests.", ["verb", "code"]), {
    verb: ["get", "list"],
    code: ["ok", "failed"],
  });
  metrics.counter(counterOf("plain_total", "Without labels."));
  metrics.counter(counterOf("by_cluster_total", "By cluster.", ["cluster"]));
  requests.add({ verb: "get", code: "ok" });
  requests.add({ verb: "get", code: "ok" }, 2);
  assert.equal(
    metrics.text(),
    `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{verb="get",code="ok"} 3
requests_total{verb="get",code="failed"} 0
requests_total{verb="list",code="ok"} 0
requests_total{verb="list",code="failed"} 0
# HELP plain_total Without labels.
# TYPE plain_total counter
plain_total 0
# HELP by_cluster_total By cluster.
# TYPE by_cluster_total counter
`,
  );
});

test("[KUBE73] a histogram counts into all buckets from its value on", () => {
  const metrics = new MetricsRegistry();
  const seconds = metrics.histogram(
    histogramOf("reconcile_seconds", "Duration.", [0.1, 1], ["cluster"]),
  );
  for (const value of [0.0625, 0.5, 4]) seconds.observe({ cluster: "a" }, value);
  assert.deepEqual(metrics.text().trim().split("\n").slice(2), [
    'reconcile_seconds_bucket{cluster="a",le="0.1"} 1',
    'reconcile_seconds_bucket{cluster="a",le="1"} 2',
    'reconcile_seconds_bucket{cluster="a",le="+Inf"} 3',
    'reconcile_seconds_sum{cluster="a"} 4.5625',
    'reconcile_seconds_count{cluster="a"} 3',
  ]);
});

test("[KUBE74] gauges are set when they are asked for, and the series of a deleted object vanish", () => {
  const metrics = new MetricsRegistry();
  const depth = metrics.gauge(gaugeOf("depth", "Depth.", ["queue"]));
  let value = 5;
  metrics.onCollect(() => depth.set({ queue: "a" }, value));
  depth.set({ queue: "b" }, 1);
  assert.ok(metrics.text().endsWith('depth{queue="b"} 1\ndepth{queue="a"} 5\n'));
  value = 6;
  depth.remove({ queue: "b" });
  assert.deepEqual(metrics.text().trim().split("\n").slice(2), ['depth{queue="a"} 6']);
});

test("[KUBE75] label values are escaped", () => {
  const metrics = new MetricsRegistry();
  metrics.gauge(gaugeOf("x", "A \\ and\na line.", ["text"])).set({ text: 'a"\\\n' }, 1);
  assert.equal(
    metrics.text(),
    '# HELP x A \\\\ and\\na line.\n# TYPE x gauge\nx{text="a\\"\\\\\\n"} 1\n',
  );
});

test("[KUBE76] a metric has one owner, and a counter only goes up", () => {
  const metrics = new MetricsRegistry();
  const counter = metrics.counter(counterOf("a_total", "A.", ["verb"]), { verb: ["get"] });
  assert.throws(() => metrics.gauge(gaugeOf("a_total", "A.")), /registered already/);
  assert.throws(() => metrics.gauge(gaugeOf("a-b", "A.")), /no name/);
  assert.throws(() => counter.add({ verb: "get" }, -1), RangeError);
  assert.throws(() => counter.add({ node: "n1" }), /has no label node/);
  assert.throws(() => metrics.gauge(counterOf("b_total", "B.")), /is a counter, not a gauge/);
  assert.throws(() => metrics.gauge(gaugeOf("c", "C."), { d: [] }), /has no label d/);
});
