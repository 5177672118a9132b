// Dashboards, rules and runbooks against the list of metrics, and the alarms against the real promtool. The latter is skipped
// aloud where it has not been built: `npm run alarms` builds it.
import { strict as assert } from "node:assert";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { durations } from "../../scripts/monitoring/alarm.ts";
import { askedBy, problemsOf } from "../../scripts/monitoring/expression.ts";
import { dashboards, monitoringFiles } from "../../scripts/monitoring/monitoring-files.ts";
import { alarms, recordingRules, runbookOf } from "../../scripts/monitoring/rules.ts";
import { allMetrics } from "../../src/model/metrics/catalogue.ts";
import { promtoolPath, runPromtool } from "../prometheus.ts";

const root = join(import.meta.dirname, "../..");
const skip = existsSync(promtoolPath(process.env))
  ? false
  : "promtool is not built here: npm run alarms builds it";

function panelsOf() {
  return dashboards.flatMap(({ uid, rows }) =>
    rows.flatMap(({ panels }) => panels.map((panel) => ({ uid, ...panel }))),
  );
}

test("[MON10] dashboards and rules ask only for metrics and labels that there are", () => {
  for (const { uid, title, queries } of panelsOf()) {
    for (const { expression, legend } of queries) {
      assert.deepEqual(problemsOf(expression), [], `${uid}: ${title}`);
      const { metrics, grouping } = askedBy(expression);
      const known = [...grouping, ...metrics.flatMap(({ name }) => labelsOf(name))];
      for (const [, label = ""] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
        assert.ok(["instance", ...known].includes(label), `${uid}: ${title}: ${label}`);
      }
    }
  }
  for (const { name, expression } of alarms) {
    assert.deepEqual(problemsOf(expression(durations())), [], name);
  }
  for (const { record, expression } of recordingRules) {
    assert.deepEqual(problemsOf(expression(durations())), [], record);
  }
});

function labelsOf(name: string): readonly string[] {
  const recorded = recordingRules.find(({ record }) => record === name)?.labels;
  return recorded ?? allMetrics.find((metric) => metric.name === name)?.labels ?? [];
}

test("[MON10] a misspelt metric or label is found", () => {
  const wrong: readonly [string, RegExp][] = [
    ["fdb_database_availabel == 0", /no metric fdb_database_availabel/],
    ['max(fdb_database_queue_bytes{rolle="log"})', /no label rolle/],
    ["max by (nam) (fdb_database_available)", /nothing in it has the label nam/],
    ["sum(rate(fdb_operator_reconcile_duration_seconds[5m]))", /no metric/],
    ["vector(1)", /asks for no metric/],
  ];
  for (const [expression, problem] of wrong) {
    assert.match(problemsOf(expression).join("\n"), problem, expression);
  }
  const right = 'max by (namespace, name) (a{b="c}"}[5m]) > on (name) d or absent(e)';
  assert.deepEqual(askedBy(right), {
    metrics: [
      { name: "a", labels: ["b"] },
      { name: "d", labels: [] },
      { name: "e", labels: [] },
    ],
    grouping: ["namespace", "name", "name"],
  });
});

test("[MON10] every metric of databases is drawn or alarmed somewhere", () => {
  const expressions = [
    ...panelsOf().flatMap(({ queries }) => queries.map(({ expression }) => expression)),
    ...alarms.map(({ expression }) => expression(durations())),
    ...recordingRules.map(({ expression }) => expression(durations())),
  ];
  const used = new Set(
    expressions.flatMap((each) => askedBy(each).metrics.map(({ name }) => name)),
  );
  const unused = allMetrics
    .map(({ name }) => name)
    .filter((name) => name.startsWith("fdb_database_") && !used.has(name));
  assert.deepEqual(unused, ["fdb_database_healthy"]);
});

test("[MON11] every alarm has a runbook with what it means, whether it is urgent, how to look and what to do", () => {
  const folder = join(root, "docs/runbooks");
  const names = alarms.map(({ name }) => name);
  assert.deepEqual(readdirSync(folder).toSorted(), names.map((name) => `${name}.md`).toSorted());
  const manual = readFileSync(join(root, "docs/monitoring.md"), "utf8");
  for (const alarm of alarms) {
    const page = readFileSync(join(root, runbookOf(alarm)), "utf8");
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
    const parts = ["What it means", "Is it urgent?", "How to look", "What to do"];
    assert.deepEqual(headings, [alarm.name, ...parts], alarm.name);
    assert.ok(manual.includes(`](runbooks/${alarm.name}.md)`), alarm.name);
    // Each of several causes is proved to fire, and two peaceful days not to.
    const causes = alarm.expression(durations()).split(" or ").length;
    assert.ok(alarm.fires.length >= causes && alarm.quiet.length >= 2, alarm.name);
  }
});

test("[MON11] what is installed is what the sources give, and no dashboard is larger than a ConfigMap may be", () => {
  for (const [path, contents] of monitoringFiles()) {
    assert.equal(readFileSync(join(root, path), "utf8"), contents, path);
    assert.ok(contents.length < 500_000, path);
  }
  const uids = dashboards.map(({ uid }) => uid);
  assert.equal(new Set(uids).size, uids.length);
});

test(
  "[MON12] promtool takes the rules, and every alarm fires when it should and not when it should not (long)",
  { skip },
  () => {
    const rules = join(root, "deploy/monitoring/rules.yaml");
    const checked = runPromtool(process.env, [
      "check",
      "rules",
      "--lint=all",
      "--lint-fatal",
      rules,
    ]);
    assert.ok(checked.isOk, checked.output);
    const tests = join(root, "test/monitoring/rules.test.yaml");
    const tested = runPromtool(process.env, ["test", "rules", tests]);
    assert.ok(tested.isOk, tested.output);
  },
);
