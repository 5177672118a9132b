// `explain`: the page as data and as text, what it says when something cannot be read, and both ways to call it.
import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { apiVersion } from "../../src/api/cluster.ts";
import type { ClusterStatus, Condition, FoundationDBCluster } from "../../src/api/cluster.ts";
import { explainCluster } from "../../src/plugin/explain/page.ts";
import type { ExplainInput, ExplainPage } from "../../src/plugin/explain/page.ts";
import { readExplainInput } from "../../src/plugin/explain/read.ts";
import { similarNames } from "../../src/plugin/read-named.ts";
import { renderExplanation } from "../../src/plugin/explain/text.ts";
import { formatAge, wrap } from "../../src/plugin/explain/words.ts";
import { kubeconfigText, serveHttps } from "../../src/emulator/https-server.ts";
import { KubeClient } from "../../src/kube/client.ts";
import type { Event, Node, PersistentVolumeClaim, Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { KubeTransport } from "../../src/kube/transport.ts";
import { small, TestWorld, tiny } from "../world/world-harness.ts";

const nowMs = Date.parse("2026-03-01T04:00:00Z");
const minutesAgo = (minutes: number): string => formatTime(nowMs - minutes * 60_000);

function condition(
  type: string,
  status: Condition["status"],
  reason = "R",
  message = "M",
): Condition {
  const lastTransitionTime = minutesAgo(125);
  return { type, status, reason, message, observedGeneration: 2, lastTransitionTime };
}

const healthy: readonly Condition[] = [
  condition("Available", "True", "DatabaseAvailable", "The database answers reads and writes"),
  condition("Degraded", "False", "Healthy", "All processes run and all data has all its copies"),
  condition("Progressing", "False", "ReconciliationComplete"),
  condition("Reconciled", "True", "ReconciliationComplete"),
];

function clusterWith(status: ClusterStatus | undefined): Stored<FoundationDBCluster> {
  return {
    apiVersion,
    kind: "FoundationDBCluster",
    metadata: {
      ...{ name: "orders", namespace: "shop", uid: "u1", generation: 2 },
      creationTimestamp: minutesAgo(600),
    },
    spec: { version: "7.3.63" },
    ...(status === undefined ? {} : { status }),
  };
}

function inputWith(
  status: ClusterStatus | undefined,
  more: Partial<ExplainInput> = {},
): ExplainInput {
  const cluster = clusterWith(status);
  return { cluster, pods: [], pvcs: [], events: [], nodes: [], unread: [], ...more };
}

function pageWith(conditions: readonly Condition[], status: ClusterStatus = {}): ExplainPage {
  const whole = { configured: true, generations: { reconciled: 2 }, ...status };
  return explainCluster(inputWith({ ...whole, conditions: [...conditions] }), nowMs);
}

function changed(...conditions: readonly Condition[]): Condition[] {
  return healthy.map((one) => conditions.find(({ type }) => type === one.type) ?? one);
}

function clusterPage(change: Partial<Stored<FoundationDBCluster>>): ExplainPage {
  const status = { configured: true, generations: { reconciled: 2 }, conditions: [...healthy] };
  const input = inputWith(status);
  return explainCluster({ ...input, cluster: { ...input.cluster, ...change } }, nowMs);
}

test("[E53] a deletion that protection holds back is not told as a deletion", () => {
  const { metadata } = clusterWith(undefined);
  const deleted = { ...metadata, deletionTimestamp: minutesAgo(5) };
  assert.equal(clusterPage({ metadata: deleted }).headline, "The cluster is being deleted.");
  const name = "foundationdb.org/deletion-protection";
  const held = { ...deleted, finalizers: [name], annotations: { [name]: "true" } };
  assert.match(
    clusterPage({ metadata: held }).headline,
    /^Somebody deleted this cluster, but it is protected: it stays, .*foundationdb\.org\/deletion-protection is removed\.$/,
  );
});

test("[E53] of a paused cluster the generation that is in force is named", () => {
  const { metadata, spec } = clusterWith(undefined);
  const page = clusterPage({
    ...{ metadata: { ...metadata, generation: 9 }, spec: { ...spec, skip: true } },
  });
  assert.match(page.headline, /spec\.skip is true.* Generation 2 is in force, not 9\.$/);
  assert.doesNotMatch(page.reconciled.text, /generation 9/);
});

test("[E3] a fact that nobody keeps current is not known, without the age of its last value", () => {
  const { spec } = clusterWith(undefined);
  const { serving } = clusterPage({ spec: { ...spec, skip: true } });
  assert.deepEqual(serving, {
    answer: "unknown",
    text: "it was last told that the database serves reads and writes",
  });
});

test("[E54] entries to remove that mean no process group are named", () => {
  const processGroups = [{ processGroupID: "log-1", processClass: "log" }];
  const status = { configured: true, generations: {}, conditions: [...healthy], processGroups };
  const { spec } = clusterWith(undefined);
  const warning = (...processGroupsToRemove: string[]): string | undefined =>
    clusterPage({ status, spec: { ...spec, processGroupsToRemove } }).warning;
  assert.equal(warning("log-1"), undefined);
  assert.equal(
    warning("log-9"),
    "processGroupsToRemove names log-9, which is no process group of this cluster: removed already, or mistyped.",
  );
  assert.equal(
    warning("orders-log-1"),
    "processGroupsToRemove names the pod orders-log-1: the id of its process group is log-1.",
  );
});

test("[E20] [E55] what ordinary work brings with it does not ask for a look before it lasts", () => {
  const unfit = (minutes: number) => ({
    ...{ step: "changeCoordinators", reason: "CoordinatorsUnfit", message: "m", remedy: "r" },
    since: minutesAgo(minutes),
  });
  const page = (minutes: number): ExplainPage =>
    pageWith(changed(condition("Reconciled", "False")), { blockedBy: [unfit(minutes)] });
  assert.match(page(2).headline, /and the operator is at work\.$/);
  assert.match(page(11).headline, /and one thing needs a look\.$/);
});

const volumeWait = {
  step: "addPods",
  reason: "VolumePending",
  message: "The volume claims of pods orders-log-1 and orders-log-2 are not bound",
  since: minutesAgo(12),
  retryAt: formatTime(nowMs + 15_000),
  remedy: "Look at the claims.",
};

const verdicts: [string, ExplainPage, RegExp][] = [
  ["healthy", pageWith(healthy), /^Healthy for 2h 5m: the database serves reads and writes/],
  [
    "down",
    pageWith(changed(condition("Available", "False", "DatabaseUnavailable", "It is down"))),
    /^THE DATABASE IS DOWN for 2h 5m: it is down/,
  ],
  [
    "unknown",
    pageWith(changed(condition("Available", "Unknown", "StatusMissing", "no answer"))),
    /^NOBODY KNOWS whether the database serves: no answer/,
  ],
  [
    "degraded",
    pageWith(changed(condition("Degraded", "True", "MissingPod", "MissingPod: log-1"))),
    /not as well as it should: log-1: has no pod\.$/,
  ],
  [
    "working",
    pageWith(changed(condition("Reconciled", "False", "Reconciling")), {
      blockedBy: [{ ...volumeWait, reason: "PodPending" }],
    }),
    /serves reads and writes, and the operator is at work/,
  ],
  [
    "stuck",
    pageWith(changed(condition("Reconciled", "False")), {
      blockedBy: [{ ...volumeWait, reason: "ConfigureDisabled" }],
    }),
    /serves reads and writes, but the operator is stuck: one thing needs a person/,
  ],
  [
    "starting",
    pageWith(changed(condition("Available", "False", "NotConfigured")), { configured: false }),
    /does not exist yet; the operator is bringing it up/,
  ],
  [
    "invalid",
    pageWith(changed(condition("Reconciled", "False")), {
      blockedBy: [{ step: "validateSpec", reason: "InvalidSpec", message: "wrong" }],
    }),
    /^The spec is invalid: nothing is changed until it is corrected/,
  ],
  [
    "unseen",
    explainCluster(inputWith(undefined), nowMs),
    /^No operator has looked at this cluster/,
  ],
];

for (const [verdict, page, headline] of verdicts) {
  test(`[E2] the headline of a cluster that is ${verdict}`, () => {
    assert.equal(page.verdict, verdict);
    assert.match(page.headline, headline);
  });
}

test("[E1] the page is a function of objects and time, and changes neither", () => {
  const input = inputWith({ conditions: [...healthy], blockedBy: [volumeWait] });
  const copy = structuredClone(input);
  assert.deepEqual(explainCluster(input, nowMs), explainCluster(copy, nowMs));
  assert.deepEqual(input, copy);
});

test("[E3] every fact carries its time", () => {
  const page = pageWith(healthy);
  for (const fact of [page.serving, page.sound, page.reconciled]) {
    assert.equal(fact.answer, "yes");
    assert.equal(fact.since, minutesAgo(125));
  }
  assert.match(textOf(page), /Serves +yes \(for 2h 5m\): the database serves reads and writes/);
});

function textOf(page: ExplainPage, width = 100): string {
  return renderExplanation(page, { width, hasColor: false });
}

test("[E4] a wait is told with its reason, its age, its next look and what to do", () => {
  const page = pageWith(changed(condition("Reconciled", "False")), { blockedBy: [volumeWait] });
  assert.deepEqual(page.waits, [{ ...volumeWait, concern: "look" }]);
  const text = textOf(page);
  assert.match(text, /1\. VolumePending \(addPods\), for 12m; next look within 15s\n/);
  assert.match(text, /\n {5}Do: {2}Look at the claims\.\n/);
});

test("[E4] a wait that usually passes deserves a look after an hour", () => {
  const concernAfter = (minutes: number): string | undefined => {
    const wait = { ...volumeWait, reason: "ExclusionRunning", since: minutesAgo(minutes) };
    return pageWith(healthy, { blockedBy: [wait] }).waits[0]?.concern;
  };
  assert.deepEqual([concernAfter(59), concernAfter(60)], ["passing", "look"]);
});

test("[E5] process groups in trouble are gathered by condition and class", () => {
  const group = (id: string, type: "PodPending" | "MissingPod", minutes: number) => ({
    processGroupID: id,
    processClass: id.split("-")[0] ?? "",
    processGroupConditions: [{ type, timestamp: nowMs / 1000 - minutes * 60 }],
  });
  const fine = { processGroupID: "log-9", processClass: "log" };
  const processGroups = [
    ...[group("storage-2", "PodPending", 3), group("storage-1", "PodPending", 7), fine],
    { ...group("log-1", "MissingPod", 1), removalTimestamp: minutesAgo(5) },
  ];
  const { troubles, inTrouble, total } = pageWith(healthy, { processGroups }).processGroups;
  assert.deepEqual([inTrouble, total], [3, 4]);
  const told = troubles.map(({ condition: type, processClass, ids, total: all, since }) => [
    ...[type, processClass, ids.join(), all, since],
  ]);
  assert.deepEqual(told, [
    ["MissingPod", "log", "log-1", 2, minutesAgo(1)],
    ["PodPending", "storage", "storage-1,storage-2", 2, minutesAgo(7)],
    ["MarkedForRemoval", "log", "log-1", 2, minutesAgo(5)],
  ]);
});

test("[E49] what works less safely than it could stands on the page as long as it is so", () => {
  const message = "There are too few hosts for 5 coordinators: up to 2 share one.";
  const page = pageWith([
    ...healthy,
    condition("Warning", "True", "CoordinatorsShareHosts", message),
  ]);
  assert.equal(page.verdict, "healthy");
  assert.equal(page.warning, message);
  assert.match(
    renderExplanation(page, { width: 200, hasColor: false }),
    new RegExp(`Warning +${message}`),
  );
  assert.equal(pageWith(healthy).warning, undefined);
});

test("[CERT6] [CERT7] what is to be said of certificates stands on the page", () => {
  const page = pageWith([
    ...healthy,
    condition("CertificateExpiring", "True", "CertificateExpiring", "One expires. Renew it"),
    condition("CertificateOutdated", "True", "CertificateOutdated", "log-1 shows an older one"),
  ]);
  assert.equal(page.verdict, "healthy");
  assert.equal(page.warning, "One expires. Renew it. log-1 shows an older one.");
});

test("[E6] a spec that nobody read for two minutes makes everything unknown", () => {
  const input = inputWith({ configured: true, conditions: [...healthy] });
  const writtenAt = (seconds: number): ExplainInput => {
    const { metadata } = input.cluster;
    const managedFields = [
      { manager: "kubectl", operation: "Update", time: formatTime(nowMs - seconds * 1000) },
      { manager: "operator", operation: "Update", subresource: "status", time: minutesAgo(0) },
    ];
    const cluster = { ...input.cluster, metadata: { ...metadata, generation: 3, managedFields } };
    return { ...input, cluster };
  };
  assert.deepEqual(explainCluster(writtenAt(60), nowMs).stale, []);
  const page = explainCluster(writtenAt(180), nowMs);
  assert.equal(page.verdict, "unknown");
  assert.match(page.stale.join(), /generation 3\) and no operator has read it.*generation 2/);
  assert.deepEqual([page.serving.answer, page.sound.answer], ["unknown", "unknown"]);
});

function podOf(
  name: string,
  status: Pod["status"],
  more: object = {},
  nodeName?: string,
): Stored<Pod> {
  return {
    ...{ apiVersion: "v1", kind: "Pod", spec: { containers: [], nodeName }, status },
    metadata: { name, creationTimestamp: minutesAgo(30), ...more },
  };
}

test("[E7] pods and volumes are told in the words of Kubernetes", () => {
  const waiting = { reason: "CrashLoopBackOff", message: "back-off 5m0s" };
  const terminated = { exitCode: 139, reason: "Error" };
  const container = { name: "foundationdb", image: "", imageID: "", ready: false, restartCount: 7 };
  const ready = { type: "Ready", status: "True" };
  const pods = [
    podOf("ok", { conditions: [ready] }),
    podOf("crashing", {
      containerStatuses: [{ ...container, state: { waiting }, lastState: { terminated } }],
    }),
    podOf("homeless", {
      conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available" }],
    }),
    podOf("held", {}, { deletionTimestamp: minutesAgo(20), finalizers: ["a/b"] }),
    podOf("lost", { conditions: [ready] }, {}, "n1"),
  ];
  const claim: Stored<PersistentVolumeClaim> = {
    ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" } },
    spec: { storageClassName: "nvme" },
    status: { phase: "Pending" },
  };
  const event: Stored<Event> = {
    ...{ apiVersion: "v1", kind: "Event", metadata: { name: "e" }, type: "Warning" },
    involvedObject: { kind: "PersistentVolumeClaim", name: "data" },
    message: 'storageclass "nvme" not found',
    lastTimestamp: minutesAgo(1),
  };
  const nodeStatus = {
    conditions: [{ type: "Ready", status: "Unknown", message: "Kubelet stopped posting" }],
  };
  const node: Stored<Node> = {
    ...{ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    status: nodeStatus,
  };
  const more = { pods, pvcs: [claim], events: [event], nodes: [node] };
  const { objects } = explainCluster(inputWith({ conditions: [...healthy] }, more), nowMs);
  assert.deepEqual(
    objects.map(({ object, text }) => `${object} ${text}`),
    [
      "pod/crashing container foundationdb waits (CrashLoopBackOff, exit code 139, 7 restarts): back-off 5m0s",
      "pod/held being deleted; held back by a/b",
      "pod/homeless no node: 0/3 nodes are available",
      "pod/lost ready, but its node is not ready (Kubelet stopped posting)",
      'pvc/data not bound (Pending, storage class nvme): storageclass "nvme" not found',
    ],
  );
});

test("[E9] events of the last hour about the cluster itself are told, the newest first", () => {
  const event = (reason: string, minutes: number, uid = "u1"): Stored<Event> => ({
    ...{ apiVersion: "v1", kind: "Event", metadata: { name: reason }, type: "Normal", reason },
    involvedObject: { kind: "FoundationDBCluster", name: "orders", uid },
    message: `about ${reason}`,
    lastTimestamp: minutesAgo(minutes),
  });
  const events = [event("Old", 90), event("First", 30), event("Last", 5), event("Other", 1, "u0")];
  const page = explainCluster(inputWith({ conditions: [...healthy] }, { events }), nowMs);
  assert.deepEqual(
    page.recent.map(({ reason }) => reason),
    ["Last", "First"],
  );
  assert.match(textOf(page), /- 5m ago: Last: about Last/);
});

test("[E10] the text keeps to the width, and names stay whole", () => {
  const page = pageWith(changed(condition("Reconciled", "False")), { blockedBy: [volumeWait] });
  for (const width of [40, 60, 100]) {
    for (const line of textOf(page, width).split("\n")) {
      const isOneWord = !line.trim().includes(" ");
      assert.ok(line.length <= width || isOneWord || line.includes("FoundationDB"), line);
    }
  }
  assert.deepEqual(wrap("a bb a-very-long-name c", 6), ["a bb", "a-very-long-name", "c"]);
  const ages = [5, 119, 120, 3600, 7500, 86_400, 97_200].map((seconds) =>
    formatAge(seconds * 1000),
  );
  assert.deepEqual(ages, ["5s", "119s", "2m", "1h", "2h 5m", "1d", "1d 3h"]);
});

test("[E11] colour is added only when it is asked for, and adds nothing else", () => {
  const page = pageWith(changed(condition("Available", "False")), { blockedBy: [volumeWait] });
  const colored = renderExplanation(page, { width: 80, hasColor: true });
  // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
  const escapes = /\u001b\[[0-9;]*m/g;
  assert.ok(escapes.test(colored));
  assert.equal(colored.replaceAll(escapes, ""), textOf(page, 80));
});

test("[E14] a mistyped name brings up those that are near", () => {
  const names = ["orders", "orders-eu", "billing", "order"];
  assert.deepEqual(similarNames("ordres", names), ["order", "orders"]);
  assert.deepEqual(similarNames("orders", ["billing"]), []);
  assert.deepEqual(similarNames("billing-prod", names), ["billing"]);
});

/** A road to a world's API server on which some plurals may not be read. */
function forbidding(world: TestWorld, ...plurals: string[]): KubeClient {
  const { transport } = world.world;
  const road: KubeTransport = {
    watch: (request, onEvent) => transport.watch(request, onEvent),
    request: async (request) => {
      const plural = plurals.find((name) => request.path.includes(`/${name}`));
      if (plural === undefined) return transport.request(request);
      const message = `${plural} is forbidden: User "eve" cannot list resource "${plural}"`;
      const status = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message };
      return { status: 403, body: { apiVersion: "v1", ...status } };
    },
  };
  return new KubeClient(road, { userAgent: "eve" });
}

test("[E15] what may not be read is left out and named; the cluster itself is needed", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const key = { namespace: "default", name: "sample" };
    const client = forbidding(world, "events", "nodes");
    const input = await readExplainInput(client, key, "https://server");
    assert.deepEqual(input.unread, ["events: not allowed", "nodes: not allowed"]);
    assert.equal(input.pods?.length, 3);
    const page = explainCluster(input, world.clock.nowMs());
    assert.equal(page.verdict, "healthy");
    assert.match(textOf(page), /Could not be read\n {2}- events: not allowed/);
    const none = readExplainInput(forbidding(world, "foundationdbclusters"), key, "https://server");
    await assert.rejects(none, {
      name: "CommandError",
      message: /^not allowed: foundationdbclusters is forbidden: User "eve"/,
    });
  });
});

test("[E14] a cluster that does not exist: near names, other namespaces, or none at all", async () => {
  await TestWorld.run({}, async (world) => {
    const find = (name: string, namespace = "default") =>
      readExplainInput(world.client, { namespace, name }, "https://server");
    await assert.rejects(find("orders"), {
      message: /in namespace default; there is none at all$/,
    });
    await world.createNamespace("shop");
    await world.createCluster(tiny, { name: "orders" });
    await world.createCluster(tiny, { name: "billing", namespace: "shop" });
    await assert.rejects(find("oders"), { message: /did you mean orders\?$/ });
    await assert.rejects(find("billing"), { message: /but one in shop \(-n shop\)$/ });
    await assert.rejects(find("zebra"), { message: /there are default\/orders, shop\/billing$/ });
  });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function entryOf(name: string): string {
  return join(import.meta.dirname, "..", "..", "src", "cli", name);
}

function run(entry: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return ending(spawn(process.execPath, [entryOf(entry), ...args], { env }));
}

function ending(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
  });
}

test("[E12] [E16] [E59] both commands print the same page, as text and as JSON (long)", async () => {
  await TestWorld.runWithCluster({ spec: small }, async (world) => {
    const served = await serveHttps(world.world.server, { port: 0 });
    const folder = mkdtempSync(join(tmpdir(), "fdb-operator-explain-"));
    try {
      const file = join(folder, "kubeconfig");
      writeFileSync(file, kubeconfigText(served), { mode: 0o600 });
      const args = ["explain", "sample", "-n", "default"];
      const text = await run("main.ts", [...args, "--kubeconfig", file], {});
      assert.deepEqual([text.code, text.err], [0, ""]);
      assert.match(text.out, /^default\/sample {2}FoundationDB 7\.3\.63, double/);
      const plugin = await run("kubectl-fdb.ts", args, { KUBECONFIG: file });
      const withoutTimes = (page: string): string =>
        page.replaceAll(/\S+Z|\b\d+(\.\d+)?(d|h|m|s|ms)\b/g, "").replaceAll(/\s+/g, " ");
      assert.equal(withoutTimes(plugin.out), withoutTimes(text.out));
      const json = await run("kubectl-fdb.ts", [...args, "-o", "json"], { KUBECONFIG: file });
      const page = JSON.parse(json.out) as ExplainPage;
      assert.deepEqual([page.cluster, page.processGroups.total], ["sample", 9]);
      const differenceMs = Math.abs(Date.parse(page.asOf) - world.clock.nowMs());
      // The reader's clock is far from it; how long the reader took does not matter.
      assert.ok(differenceMs < 3_600_000, "the time of the server, not of the reader");
    } finally {
      await served.close();
      rmSync(folder, { recursive: true });
    }
  });
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
test(
  "[E16] kubectl finds the plugin",
  { skip: hasKubectl ? false : "there is no kubectl on this machine" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "fdb-operator-plugin-"));
    try {
      const program = join(folder, "kubectl-fdb");
      writeFileSync(
        program,
        `#!/bin/sh\nexec "${process.execPath}" "${entryOf("kubectl-fdb.ts")}" "$@"\n`,
      );
      chmodSync(program, 0o700);
      const env = { PATH: `${folder}${delimiter}${process.env["PATH"]}`, HOME: folder };
      const ended = await ending(spawn("kubectl", ["fdb", "explain", "a"], { env }));
      assert.equal(ended.code, 1);
      assert.match(ended.err, /^kubectl fdb: no kubeconfig/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test("[E13] each way of not reaching the server is one line that says what to do (long)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-explain-"));
  try {
    const file = join(folder, "kubeconfig");
    const contexts = "contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n";
    const cluster = 'clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]\n';
    writeFileSync(file, `apiVersion: v1\nkind: Config\n${cluster}${contexts}`);
    const cases: [string[], Record<string, string>, RegExp, code?: number][] = [
      [
        ["explain", "a"],
        { HOME: folder },
        /^kubectl fdb: no kubeconfig: name one with --kubeconfig/,
      ],
      [
        ["explain", "a", "--kubeconfig", `${file}x`],
        {},
        /kubeconfigx: cannot be read \(ENOENT\)\n$/,
      ],
      [
        ["explain", "a"],
        { KUBECONFIG: file },
        /cannot reach the API server http:\/\/127\.0\.0\.1:1: /,
      ],
      [["explain", "a", "--context", "d"], { KUBECONFIG: file }, /contexts has no entry named "d"/],
      [["explain"], {}, /missing required argument 'name' \(--help shows what is possible\)/, 2],
      [["explain", "a", "-o", "xml"], {}, /Allowed choices are text, json/, 2],
    ];
    for (const [args, env, expected, exitCode = 1] of cases) {
      const { code, out, err } = await run("kubectl-fdb.ts", args, env);
      assert.deepEqual([code, out], [exitCode, ""], err);
      assert.match(err, expected);
      assert.equal(err.split("\n").length, 2, err);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
