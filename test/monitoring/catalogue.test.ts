// The list of metrics against the rules of Prometheus, and against what a running operator serves.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { MetricsRegistry } from "../../src/env/metrics.ts";
import { allMetrics, labelMeanings } from "../../src/model/metrics/catalogue.ts";
import { registerProcessMetrics } from "../../src/cli/process-metrics.ts";
import { registerRequestMetrics } from "../../src/cli/request-metrics.ts";
import { lossReporter, registerClientMetrics } from "../../src/cli/run-databases.ts";
import { silentLog } from "../../src/env/log.ts";
import { TestWorld, tiny } from "../world/world-harness.ts";

/** Names that came before the rule, from the Go operator and its library. */
const older =
  /^fdb_operator_(process_groups_to_remove_total|process_group_to_remove_without_exclusion_total|process_group_total|desired_process_group_total|cluster_created_time)$/;

test("[MON2] names of metrics follow the rules of Prometheus, and every label has a meaning", () => {
  const used = new Set<string>();
  for (const { name, type, labels, help } of allMetrics) {
    assert.match(name, /^[a-z][a-z0-9_]*$/);
    assert.match(help, /^[A-Z0-9].{5,160}\.$/, name);
    if (!older.test(name)) assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.doesNotMatch(name, /_(ms|minutes|hours|megabytes|kilobytes|percent|megabits)(_|$)/);
    assert.equal(new Set(labels).size, labels.length, name);
    for (const label of labels) used.add(label);
  }
  assert.equal(new Set(allMetrics.map(({ name }) => name)).size, allMetrics.length);
  assert.deepEqual([...used].toSorted(), Object.keys(labelMeanings));
});

test("[MON2] [MON3] what an operator serves is what the list says, and all of it, with the same labels", async () => {
  const databaseMetrics = { detail: "process" } as const;
  await TestWorld.runWithCluster({ spec: tiny, operator: { databaseMetrics } }, (world) => {
    const registry = new MetricsRegistry();
    registerRequestMetrics(registry);
    const source = { startedMs: 0, version: "1", isLeading: () => true, features: {} };
    registerProcessMetrics(registry, source)();
    lossReporter(silentLog, registry);
    const client = { number: 1, version: "7.3.63", databases: 1, isQuarantine: false };
    registerClientMetrics(registry, { processes: () => [{ ...client, rssBytes: 1 }] });
    const text = registry.text() + world.world.operator.metricsText();
    const found = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, ...both]) => both.join(" "));
    const described = allMetrics.map(({ name, type }) => `${name} ${type}`);
    assert.deepEqual(found.toSorted(), described.toSorted());
    const labelsOf = new Map(allMetrics.map(({ name, labels }) => [name, labels.join(",")]));
    const samples = [...text.matchAll(/^(fdb_(?:database|process)_\w+)\{(.*)\} [-\d.e+]+$/gm)];
    assert.ok(samples.length > 50, text);
    for (const [, name = "", pairs = ""] of samples) {
      const labels = [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label);
      assert.equal(labels.join(","), labelsOf.get(name), name);
    }
    const available = /^fdb_database_available\{namespace="default",name="sample"\} 1$/m;
    assert.match(text, available);
    return Promise.resolve();
  });
});
