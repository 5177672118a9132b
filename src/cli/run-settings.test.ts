// Settings of the running operator: where they come from, what is refused, what reaches the loop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { validateCluster } from "../api/validate-cluster.ts";
import { defaultPlanOptions } from "../plan/snapshot.ts";
import { CommandError } from "../env/command-error.ts";
import { flagsPage } from "./flags-page.ts";
import { flagsWithoutEffect } from "./go-flags.ts";
import { operatorOptions } from "./run-options.ts";
import { allSettings, readSettings } from "./run-settings.ts";

test("[RUN1] a flag wins over its variable, that over the default, and an empty variable is none", () => {
  const of = (flags: Record<string, string>, environment: Record<string, string>): string =>
    readSettings(flags, environment).watchNamespace;
  assert.equal(of({}, {}), "");
  assert.equal(of({}, { WATCH_NAMESPACE: "one" }), "one");
  assert.equal(of({ watchNamespace: "two" }, { WATCH_NAMESPACE: "one" }), "two");
  assert.equal(of({ watchNamespace: "" }, { WATCH_NAMESPACE: "one" }), "");
  const busy = (environment: Record<string, string>): number =>
    readSettings({}, environment).maxConcurrentReconciles;
  assert.equal(busy({ FDB_OPERATOR_MAX_CONCURRENT_RECONCILES: "" }), 4);
  assert.equal(busy({ FDB_OPERATOR_MAX_CONCURRENT_RECONCILES: "9" }), 9);
});

test("[RUN1] durations, switches and addresses are read as people write them", () => {
  const settings = readSettings(
    {
      getTimeout: "1m30s",
      postTimeout: "500ms",
      minimumRecoveryTimeForExclusion: "120.5",
      enableLeaderElection: "false",
      replaceOnSecurityContextChange: true,
      metricsAddr: ":9000",
      healthProbeBindAddress: "0",
    },
    {},
  );
  assert.equal(settings.getTimeout, 90_000);
  assert.equal(settings.postTimeout, 500);
  assert.equal(settings.minimumRecoveryTimeForExclusion, 120_500);
  assert.equal(settings.enableLeaderElection, false);
  assert.equal(settings.replaceOnSecurityContextChange, true);
  assert.deepEqual(settings.metricsAddr, { host: "", port: 9000 });
  assert.equal(settings.healthProbeBindAddress, undefined);
  const six = readSettings({ metricsAddr: "[::1]:80" }, {}).metricsAddr;
  assert.deepEqual(six, { host: "::1", port: 80 });
});

test("[RUN2] every wrong value is told at once with where it came from", () => {
  const flags = { getTimeout: "soon", maxConcurrentReconciles: "0", metricsAddr: "nowhere" };
  const read = (): unknown => readSettings(flags, { FDB_OPERATOR_LOG_LEVEL: "loud" });
  assert.throws(read, (error) => {
    assert.ok(error instanceof CommandError);
    assert.match(error.message, /--get-timeout must be a duration such as .*, not "soon"/);
    assert.match(error.message, /--max-concurrent-reconciles must be a whole number from 1/);
    assert.match(error.message, /--metrics-addr must be HOST:PORT/);
    assert.match(error.message, /FDB_OPERATOR_LOG_LEVEL must be one of debug, .*, not "loud"/);
    return true;
  });
});

test("[RUN3] the page of the flags is the one that the table gives, and names every setting", () => {
  const page = readFileSync(new URL("../../docs/reference/flags.md", import.meta.url), "utf8");
  assert.equal(page, flagsPage());
  for (const { flag, environment, isHidden } of Object.values(allSettings)) {
    const isNamed = new RegExp(`\`--${flag}[ \`]`).test(page);
    assert.equal(isNamed, isHidden !== true, flag);
    assert.equal(page.includes(`\`${environment}\``), isHidden !== true, environment);
  }
});

test("[RUN4] without any setting the loop gets its own defaults, and every setting reaches it", () => {
  const { plan } = operatorOptions(readSettings({}, {}));
  for (const [name, value] of Object.entries(defaultPlanOptions)) {
    assert.equal(plan?.[name as keyof typeof plan], value, name);
  }
  // Another value of any setting of the loop must show in what the loop gets.
  const usual = JSON.stringify(operatorOptions(readSettings({}, {})));
  const elsewhere =
    /^(kubeconfig|context|watchNodes|requestTimeout|enableLeader|leaderElection|metricsAddr|healthProbe|logLevel|database$|databasesPerClient)/;
  for (const [name, setting] of Object.entries(allSettings)) {
    if (elsewhere.test(name)) continue;
    const others = { "": "7", true: "false", false: "true", cluster: "process", 10000: "500" };
    const other = others[setting.fallback as keyof typeof others] ?? "7";
    const changed = JSON.stringify(operatorOptions(readSettings({ [name]: other }, {})));
    assert.notEqual(changed, usual, name);
  }
});

test("[DB50] how many databases share a client process has bounds", () => {
  assert.equal(readSettings({}, {}).databasesPerClient, 16);
  assert.equal(readSettings({ databasesPerClient: "200" }, {}).databasesPerClient, 200);
  for (const wrong of ["0", "201", "-1", "1.5", "many"]) {
    assert.throws(
      () => readSettings({ databasesPerClient: wrong }, {}),
      /--databases-per-client must be a whole number from 1 to 200/,
    );
  }
});

test("[RUN5] what has no effect is no setting, and every reason is one line", () => {
  const flags = new Set(Object.values(allSettings).map(({ flag }) => flag));
  for (const [flag, reason] of Object.entries(flagsWithoutEffect)) {
    assert.ok(!flags.has(flag), flag);
    assert.match(reason, /^[^\n|]{10,100}$/);
  }
});

test("[RUN6] a lease that a command could outlast is refused", () => {
  assert.doesNotThrow(() => readSettings({}, {}));
  const shorter = { leaderElectionLeaseDuration: "12s" };
  assert.throws(() => readSettings(shorter, {}), /must exceed --cli-timeout/);
  assert.doesNotThrow(() => readSettings({ ...shorter, enableLeaderElection: "false" }, {}));
  assert.throws(
    () => readSettings({ leaderElectionRenewDeadline: "15s" }, {}),
    /must exceed the renew deadline/,
  );
});

test("[RUN7] flags limit what pod templates may ask for", () => {
  const limitsOf = (flags: Record<string, string>) =>
    operatorOptions(readSettings(flags, {})).podTemplateLimits;
  const spec = { hostNetwork: true, serviceAccountName: "root", containers: [] };
  const cluster = {
    metadata: { name: "sample" },
    spec: { version: "7.3.63", processes: { general: { podTemplate: { spec } } } },
  };
  const fieldsOf = (flags: Record<string, string>): string[] =>
    validateCluster(cluster, { podTemplateLimits: limitsOf(flags) }).map(({ field }) => field);
  assert.deepEqual(fieldsOf({}), []);
  const place = "spec.processes.general.podTemplate.spec";
  assert.deepEqual(fieldsOf({ allowHostNetwork: "false" }), [`${place}.hostNetwork`]);
  assert.deepEqual(fieldsOf({ allowedServiceAccountNames: "fdb-database, other" }), [
    `${place}.serviceAccountName`,
  ]);
  assert.deepEqual(fieldsOf({ allowedServiceAccountNames: "root" }), []);
});
