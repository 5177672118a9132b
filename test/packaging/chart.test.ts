// The chart, judged by the real helm. Skips aloud where helm has not been built: `npm run packaging` builds it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { before, describe, test } from "node:test";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { allSettings } from "../../src/cli/run-settings.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { drillRules, namespacedRules } from "../../src/operate/permissions.ts";
import { chartFolder, helmPath, openHelm } from "../helm.ts";
import type { Helm } from "../helm.ts";

type Loose = Readonly<Record<string, unknown>>;

const hasHelm = existsSync(helmPath(process.env));
const skip = hasHelm ? false : "helm is not built here: npm run packaging builds it";

void test("[DEP19] the notes after an installation give the command that the manual gives", () => {
  const notes = readFileSync(path.join(chartFolder, "templates/NOTES.txt"), "utf8");
  assert.match(notes, /helm show crds \S+ \| kubectl apply --server-side --force-conflicts -f -/);
});

void describe("chart", { skip }, () => {
  let helm: Helm;
  before(async () => {
    helm = await openHelm(process.env, () => {});
  });

  const render = (...values: string[]): Loose[] => rendered(helm.template(values));

  void test("[DEP1] the roles carry exactly the rules of the source, without wildcards or secrets", () => {
    const role = only(render(), "Role", "fdb-operator");
    assert.deepEqual(role["rules"], namespacedRules);
    for (const object of render("scope=cluster")) {
      const text = JSON.stringify(object["rules"] ?? []);
      assert.doesNotMatch(text, /"\*"|"secrets"/, keyOf(object));
    }
  });

  void test("[MON14] rules and dashboards are installed as they lie in the chart, when they are wanted", () => {
    const kinds = render().map(({ kind }) => kind);
    assert.ok(!kinds.includes("PrometheusRule") && !kinds.includes("ConfigMap"), String(kinds));
    const wanted = render(
      "metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true,databaseMetrics=process",
      "metrics.prometheusRule.runbookBase=https://runbooks.example/fdb/",
    );
    const rule = only(wanted, "PrometheusRule", "fdb-operator");
    const rules = readFileSync(path.join(chartFolder, "monitoring/rules.yaml"), "utf8");
    const moved = rules.replaceAll("docs/runbooks/", "https://runbooks.example/fdb/");
    assert.deepEqual(rule["spec"], parse(moved));
    for (const name of ["fdb-fleet", "fdb-cluster", "fdb-operator", "fdb-backup"]) {
      const map = only(wanted, "ConfigMap", `fdb-operator-${name}`);
      const file = path.join(chartFolder, "monitoring/dashboards", `${name}.json`);
      assert.deepEqual(map["data"], { [`${name}.json`]: readFileSync(file, "utf8") });
      assert.match(JSON.stringify(map["metadata"]), /"grafana_dashboard":"1"/);
    }
    const deployment = JSON.stringify(only(wanted, "Deployment", "fdb-operator"));
    assert.match(deployment, /--database-metrics=process/);
    assert.match(String(helm.template(["databaseMetrics=everything"])), /databaseMetrics/);
  });

  void test("[DEP2] helm lint --strict finds nothing, whatever is switched on", () => {
    const switches = [
      "scope=cluster,nodeAccess=false,drillAccess=true,replicas=1",
      "metrics.podMonitor.enabled=true,networkPolicy.enabled=true,tls.secretName=x",
      "metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true,databaseMetrics=process",
      "serviceAccount.create=false,serviceAccount.name=own,database.serviceAccount.create=false",
    ];
    for (const values of ["", ...switches]) {
      const set = values === "" ? [] : ["--set", values];
      const answer = helm.run(["lint", "--strict", chartFolder, ...set]);
      assert.ok(answer.isOk, `${values}: ${answer.output}`);
    }
  });

  void test("[DEP3] an unknown value and one of the wrong type are refused by name", () => {
    const wrong: [string, RegExp][] = [
      ["replicaCount=3", /replicaCount/],
      ["replicas=two", /replicas/],
      ["scope=everything", /scope/],
      ["foundationdb.versions.latest=x", /latest/],
      ["flags.BAD_FLAG=1", /BAD_FLAG/],
      ["metrics.port=99999", /port/],
      ["serviceAccount.create=false", /serviceAccount\.name is needed/],
    ];
    for (const [value, message] of wrong) {
      const answer = helm.template([value]);
      assert.equal(typeof answer, "string", `${value} was accepted`);
      assert.match(String(answer), message);
    }
  });

  void test("[DEP4] scope namespace is a Role and one namespace, scope cluster a ClusterRole and all", () => {
    const own = render();
    assert.deepEqual(names(own, "ClusterRole"), [
      "fdb-operator-fdb-operator-database-nodes",
      "fdb-operator-fdb-operator-nodes",
    ]);
    assert.deepEqual(environment(own, "WATCH_NAMESPACE"), {
      valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } },
    });
    const all = render("scope=cluster");
    assert.ok(names(all, "ClusterRole").includes("fdb-operator-fdb-operator"));
    assert.deepEqual(names(all, "Role").sort(), ["fdb-database", "fdb-operator-lease"]);
    assert.deepEqual(environment(all, "WATCH_NAMESPACE"), { value: "" });
    const blind = render("nodeAccess=false", "database.serviceAccount.nodeAccess=false");
    assert.deepEqual(names(blind, "ClusterRole"), []);
    assert.deepEqual(names(blind, "ClusterRoleBinding"), []);
  });

  void test("[DEP20] the right that drills need is there when it is asked for, in the scope of the operator", () => {
    const byDefault = render().map((object) => keyOf(object));
    assert.deepEqual(
      byDefault.filter((key) => key.endsWith("-drills")),
      [],
    );
    const own = only(render("drillAccess=true"), "Role", "fdb-operator-drills");
    assert.deepEqual(own["rules"], drillRules);
    const all = render("scope=cluster", "drillAccess=true");
    const name = "fdb-operator-fdb-operator-drills";
    assert.deepEqual(only(all, "ClusterRole", name)["rules"], drillRules);
    assert.equal(at(only(all, "ClusterRoleBinding", name), "roleRef.name"), name);
  });

  void test("[DEP5] every container of the operator's pod runs without rights", () => {
    const deployment = only(render(), "Deployment");
    assert.deepEqual(at(deployment, "spec.template.spec.securityContext"), {
      ...{ runAsNonRoot: true, runAsUser: 4059, runAsGroup: 4059, fsGroup: 4059 },
      seccompProfile: { type: "RuntimeDefault" },
    });
    const containers = ["initContainers", "containers"].flatMap((list) =>
      listAt(deployment, `spec.template.spec.${list}`),
    );
    assert.equal(containers.length, 3);
    for (const container of containers) {
      assert.deepEqual(
        container["securityContext"],
        {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        String(container["name"]),
      );
    }
  });

  void test("[DEP6] several replicas have a disruption budget and keep apart, one has no budget", () => {
    const objects = render();
    assert.equal(at(only(objects, "PodDisruptionBudget"), "spec.maxUnavailable"), 1);
    const terms = listAt(
      only(objects, "Deployment"),
      "spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
    );
    assert.deepEqual(
      terms.map((term) => [term["weight"], at(term, "podAffinityTerm.topologyKey")]),
      [
        [100, "kubernetes.io/hostname"],
        [50, "topology.kubernetes.io/zone"],
      ],
    );
    assert.deepEqual(names(render("replicas=1"), "PodDisruptionBudget"), []);
  });

  void test("[DEP7] monitor and network policy come when asked for", () => {
    assert.deepEqual([...names(render(), "PodMonitor"), ...names(render(), "NetworkPolicy")], []);
    const objects = render("metrics.podMonitor.enabled=true", "networkPolicy.enabled=true");
    assert.deepEqual(listAt(only(objects, "PodMonitor"), "spec.podMetricsEndpoints"), [
      { port: "metrics", interval: "30s", honorLabels: true },
    ]);
    const policy = only(objects, "NetworkPolicy");
    assert.deepEqual(at(policy, "spec.policyTypes"), ["Ingress"]);
    assert.deepEqual(
      listAt(policy, "spec.ingress").map((rule) => at(rule, "ports.0.port")),
      ["health", "metrics"],
    );
  });

  void test("[DEP8] two releases of one name in two namespaces share no object", () => {
    const keys = (namespace: string): string[] =>
      rendered(helm.template(["scope=cluster"], namespace)).map((object) =>
        String(object["kind"]).startsWith("Cluster") ||
        at(object, "metadata.namespace") !== undefined
          ? keyOf(object)
          : `${namespace}: ${keyOf(object)}`,
      );
    const both = [...keys("one"), ...keys("two")];
    assert.equal(new Set(both).size, both.length);
  });

  void test("[DEP13] every flag that the chart passes is a flag of the program", () => {
    const objects = render("labelSelector=team=a", "flags.max-concurrent-reconciles=4");
    const [command, ...args] = listAt(
      only(objects, "Deployment"),
      "spec.template.spec.containers.0.args",
    ).map(String);
    assert.equal(command, "run");
    assert.equal(args.length, 4);
    const known = new Set(Object.values(allSettings).map((setting) => setting.flag));
    for (const arg of args) {
      const [flag = "", value] = arg.replace(/^--/, "").split("=", 2);
      assert.ok(known.has(flag), arg);
      assert.notEqual(value, undefined, arg);
    }
  });

  void test("[DEP9] database pods get their account in every named namespace", () => {
    const objects = render("database.serviceAccount.namespaces={tenant-a,tenant-b}");
    const accounts = objects.filter(
      (object) =>
        object["kind"] === "ServiceAccount" && at(object, "metadata.name") === "fdb-database",
    );
    assert.deepEqual(accounts.map((object) => at(object, "metadata.namespace")).sort(), [
      "fdb-operator",
      "tenant-a",
      "tenant-b",
    ]);
    const binding = only(objects, "ClusterRoleBinding", "fdb-operator-fdb-operator-database-nodes");
    assert.equal(listAt(binding, "subjects").length, 3);
    assert.deepEqual(names(render("database.serviceAccount.create=false"), "Role").sort(), [
      "fdb-operator",
      "fdb-operator-lease",
    ]);
  });
});

void test("[DEP11] chart, application and package have one version", () => {
  const chart = parse(readFileSync(path.join(chartFolder, "Chart.yaml"), "utf8")) as Loose;
  assert.equal(chart["version"], manifest.version);
  assert.equal(chart["appVersion"], manifest.version);
});

function rendered(answer: readonly KubeObject[] | string): Loose[] {
  assert.notEqual(typeof answer, "string", String(answer));
  return answer as unknown as Loose[];
}

function names(objects: readonly Loose[], kind: string): string[] {
  return objects
    .filter((object) => object["kind"] === kind)
    .map((object) => String(at(object, "metadata.name")));
}

function only(objects: readonly Loose[], kind: string, name?: string): Loose {
  const found = objects.filter(
    (object) =>
      object["kind"] === kind && (name === undefined || at(object, "metadata.name") === name),
  );
  assert.equal(found.length, 1, `${kind} ${name ?? ""}: ${found.length}`);
  return found[0] ?? {};
}

function environment(objects: readonly Loose[], name: string): Loose {
  const entries = listAt(only(objects, "Deployment"), "spec.template.spec.containers.0.env");
  const { name: _, ...rest } = entries.find((entry) => entry["name"] === name) ?? { name };
  return rest;
}

function keyOf(object: Loose): string {
  const parts = [object["kind"], at(object, "metadata.namespace"), at(object, "metadata.name")];
  return parts.map(String).join("/");
}

/** The value at a path of names and places, such as `spec.containers.0.name`. */
function at(value: unknown, place: string): unknown {
  let found = value;
  for (const part of place.split(".")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Loose)[part];
  }
  return found;
}

function listAt(value: unknown, place: string): Loose[] {
  const found = at(value, place);
  assert.ok(Array.isArray(found), `no list at ${place}`);
  return found as Loose[];
}
