// Rules PIC11, PIC30, PIC34, PIC36: what a bundle is made of, and that random secrets in every place are in none of its files.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Event, Pod } from "../kube/generated/types.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Stored } from "../kube/resource.ts";
import { bundleFiles, folderName } from "./bundle-files.ts";
import type { Gathered } from "./gather.ts";

/** A cluster with a pod, a backup, an event and a log that hold secrets in `places` ways. */
function spoiled(secret: (place: string) => string): Gathered {
  const environment = [{ name: "PASSWORD", value: secret("environment") }];
  const template = {
    metadata: { annotations: { "example.com/token": secret("template") } },
    spec: {
      containers: [
        { name: "foundationdb", env: environment },
        {
          name: "exporter",
          args: ["--dsn", secret("argument"), `--token=${secret("flag")}`],
          livenessProbe: {
            httpGet: { port: 1, httpHeaders: [{ name: "Authorization", value: secret("header") }] },
          },
        },
      ],
    },
  };
  const cluster = {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: {
      ...{ name: "sample", namespace: "default", uid: "u-1", generation: 3 },
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({
          spec: {
            processes: {
              general: {
                podTemplate: {
                  spec: { containers: [{ env: [{ name: "X", value: secret("applied") }] }] },
                },
              },
            },
          },
        }),
      },
    },
    spec: {
      version: "7.3.63",
      configMap: { metadata: {}, data: { "my.conf": secret("data") } },
      trustedCAs: [`-----BEGIN PRIVATE KEY-----\n${secret("key")}\n-----END PRIVATE KEY-----`],
      processes: {
        general: {
          podTemplate: template,
          customParameters: [`tls_password=${secret("parameter")}`],
        },
      },
    },
    status: {
      connectionString: `sample:${secret("generation").replaceAll(/[^A-Za-z0-9]/g, "")}@10.1.0.1:4501`,
      processGroups: [{ processGroupID: "storage-1", processClass: "storage" }],
    },
  } as unknown as FoundationDBCluster;
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: "sample-storage-1", namespace: "default" },
      annotations: {
        ...template.metadata.annotations,
        "foundationdb.org/launcher-environment": JSON.stringify({
          PASSWORD: secret("environment"),
        }),
      },
    },
    spec: { ...template.spec, nodeName: "node-1" },
  } as unknown as Stored<Pod>;
  const backup = {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBBackup",
    metadata: { name: "nightly", namespace: "default" },
    spec: {
      clusterName: "sample",
      blobStoreConfiguration: {
        accountName: `${secret("account")}:${secret("account secret")}@s3:443`,
      },
    },
    status: {
      backupDetails: {
        url: `blobstore://${encodeURIComponent(secret("account"))}:${encodeURIComponent(secret("account secret"))}@s3:443/nightly?bucket=b`,
      },
    },
  } as unknown as KubeObject;
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e-1", namespace: "default" },
    involvedObject: { kind: "Pod", name: "sample-storage-1" },
    reason: "Failed",
    message: `exec: env PASSWORD=${secret("environment")} failed`,
  } as unknown as Stored<Event>;
  const text = [
    `start with ${secret("environment")} and ${Buffer.from(secret("argument")).toString("base64")}`,
    `{"msg":"connect","dsn":${JSON.stringify(secret("flag"))}}`,
    `GET https://bob:${encodeURIComponent(secret("url"))}@host/x`,
    `config ${secret("data")} ${secret("applied")} ${secret("header")}`,
    `blob ${secret("account secret")}`,
  ].join("\n");
  return {
    picture: {
      ...{ format: 1, takenAt: "2026-11-15T09:00:00Z", cluster, objects: [pod], otherRequests: [] },
      databaseStatus: {
        client: { coordinators: {} },
        cluster: {
          connection_string: cluster.status?.connectionString,
          processes: {
            a: { command_line: `fdbserver --tls_password=${secret("parameter")} --class=storage` },
          },
        },
      },
      ...{ left: [], versions: { plugin: "1.0.0" } },
    },
    objects: [backup, { ...pod, metadata: { ...pod.metadata, name: "nightly-backup-agents-1" } }],
    events: [event],
    logs: [
      { owner: "pods", pod: "sample-storage-1", container: "exporter", isPrevious: false, text },
    ],
    explanation: `The pod says: ${secret("environment")}\n`,
    left: [{ what: "nodes", why: "not allowed" }],
  };
}

const places = [
  "environment",
  "template",
  "argument",
  "flag",
  "header",
  "applied",
  "data",
  "key",
  "parameter",
  "generation",
  "account",
  "account secret",
  "url",
];

// Blanks end a value on a command line and a user in a URL.
const letters = fc.string({
  unit: fc.constantFrom(...'abcdefghXYZ0123456789/+=_-.!%"\\$&'.split("")),
  minLength: 12,
  maxLength: 30,
});

test("[PIC36] [PIC11] random secrets in every place are in no file", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(letters, { minLength: places.length, maxLength: places.length }),
      (values) => {
        const secret = (place: string): string => `s${values[places.indexOf(place)]}9`;
        const { files } = bundleFiles(spoiled(secret), "bundle");
        for (const place of places) {
          const value = secret(place);
          const plain = value.replaceAll(/[^A-Za-z0-9]/g, "");
          const forms = [
            value,
            JSON.stringify(value).slice(1, -1),
            encodeURIComponent(value),
            Buffer.from(value).toString("base64"),
            ...(place === "generation" ? [plain] : []),
          ];
          for (const { path, text } of files) {
            for (const form of forms)
              assert.ok(!text.includes(form), `${place} ${form} in ${path}:\n${text}`);
          }
        }
      },
    ),
    { seed: 1, numRuns: 60, examples: [[places.map((_, index) => `likeness${10 + index}x`)]] },
  );
});

test("[PIC30] [PIC34] the index comes first and names every file and gap", () => {
  const { files } = bundleFiles(
    spoiled((place) => `Secret-${place.replaceAll(" ", "-")}-1`),
    "bundle",
  );
  assert.equal(files[0]?.path, "bundle/index.md");
  const index = files[0]?.text ?? "";
  for (const { path } of files.slice(1)) assert.ok(index.includes(`| ${path.slice(7)} |`), path);
  assert.match(index, /\| nodes \| not allowed \|/);
  assert.deepEqual(
    files.map(({ path }) => path.slice(7)),
    [
      ...["index.md", "explain.txt", "versions.yaml", "left-out.yaml", "events.txt"],
      ...["resources/foundationdbbackups.yaml", "resources/pods.yaml", "resources/events.yaml"],
      ...[
        "picture/picture.yaml",
        "picture/cluster.yaml",
        "picture/pods.yaml",
        "picture/status.json",
      ],
      "logs/pods/sample-storage-1/exporter.log",
    ],
  );
});

test("[PIC31] names that clash are told apart, and the folder has the time", () => {
  const gathered = spoiled(() => "Secret-1234");
  const [log] = gathered.logs;
  assert.ok(log !== undefined);
  const files = bundleFiles({ ...gathered, logs: [log, log] }, "b").files.map(({ path }) => path);
  assert.equal(new Set(files).size, files.length);
  assert.ok(files.includes("b/logs/pods/sample-storage-1/exporter-2.log"));
  assert.equal(folderName(gathered.picture), "fdb-report-default-sample-20261115T090000Z");
});
