// Command pods and command lines of backups, and what is shown of a URL. Rules: spec/backup.md [BK1], [BK2], [BK10]-[BK17].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { backupWarnings } from "../api/validate-backup.ts";
import { backupWith, nightlyUrl } from "../../test/fixtures/backup-scene.ts";
import {
  deleteCommand,
  endCommand,
  knowsEncryption,
  modifyCommand,
  startCommand,
} from "./backup-command.ts";
import { backupUrl, maskedUrl, withoutSecrets } from "./backup-url.ts";
import { commandIdentity, commandPod } from "./command-pod.ts";

const template = {
  metadata: {
    labels: {
      "azure.workload.identity/use": "true",
      "foundationdb.org/fdb-cluster-name": "sample",
      "my-cluster-label": "sample",
    },
    annotations: { "example.org/role": "backup" },
  },
  spec: {
    serviceAccountName: "backup",
    containers: [
      {
        name: "foundationdb",
        env: [{ name: "FDB_BLOB_CREDENTIALS", value: "/credentials/file" }],
        resources: { requests: { memory: "32Gi" } },
        livenessProbe: { exec: { command: ["true"] } },
        volumeMounts: [{ name: "credentials", mountPath: "/credentials" }],
      },
      { name: "refresher", image: "refresher:1" },
    ],
    volumes: [{ name: "credentials", secret: { secretName: "backup" } }],
  },
};

test("[BK11][BK12] a command runs in the agents' template with labels and resources of its own", () => {
  const backup = backupWith({ podTemplateSpec: template, dataCenter: "dc1" });
  const command = startCommand(backup, nightlyUrl, "");
  const pod = commandPod(backup, command, 2, ["my-cluster-label"]);
  assert.ok(pod.ok);
  const { metadata, spec } = pod.value;
  assert.match(metadata.name ?? "", /^nightly-start-[0-9a-f]{10}-2$/);
  assert.deepEqual(metadata.labels, {
    "azure.workload.identity/use": "true",
    "foundationdb.org/backup-command-for": "b-1",
    "foundationdb.org/backup-command": "start",
  });
  assert.equal(metadata.annotations?.["example.org/role"], "backup");
  assert.equal(metadata.ownerReferences?.[0]?.uid, "b-1");
  const [main, sidecar] = spec?.containers ?? [];
  assert.deepEqual(main?.command, ["fdbbackup"]);
  assert.ok(!(main?.args ?? []).some((text) => text.includes("locality")));
  assert.equal(main?.image, "foundationdb/fdb-kubernetes-monitor:7.3.63");
  assert.deepEqual(main?.env?.[0], { name: "FDB_BLOB_CREDENTIALS", value: "/credentials/file" });
  assert.equal(main?.resources?.requests?.["memory"], "256Mi");
  assert.equal(main?.livenessProbe, undefined);
  assert.equal(main?.terminationMessagePolicy, "FallbackToLogsOnError");
  assert.equal(sidecar?.name, "refresher");
  assert.deepEqual(
    [spec?.restartPolicy, spec?.activeDeadlineSeconds, spec?.serviceAccountName],
    ["Never", 300, "backup"],
  );
  assert.equal(spec?.initContainers?.[0]?.name, "foundationdb-kubernetes-init");
  const { type, attempt } = commandIdentity(pod.value);
  assert.deepEqual([type, attempt], ["start", 2]);
});

test("[BK10] also a backup with the longest name has names for its pods", () => {
  const backup = backupWith({}, {}, { name: "n".repeat(253) });
  const pod = commandPod(backup, endCommand(backup, "abort", "u1"), 1, []);
  assert.ok(pod.ok);
  assert.equal(pod.value.metadata.name?.length, 253);
  assert.match(pod.value.metadata.name ?? "", /^n+-abort-[0-9a-f]{10}-1$/);
});

test("[BK16] each command names what it needs", () => {
  const customParameters = [
    "knob_a=1",
    "locality_data_hall=h1",
    "blob_credentials=/credentials/file",
  ];
  const backup = backupWith({ customParameters, tag: "daily", backupMode: "oneTime" });
  const lines = [
    startCommand(backup, "URL", ""),
    modifyCommand(backup, "", { snapshotSeconds: 60 }),
    modifyCommand(backup, "", { url: "URL" }),
    endCommand(backup, "discontinue", ""),
    deleteCommand(backup, "URL", ""),
  ].map(({ args }) => args.join(" "));
  const file = "-C /var/dynamic-conf/fdb.cluster";
  assert.deepEqual(lines, [
    `start -d URL -t daily ${file} --knob_a=1 --blob_credentials=/credentials/file`,
    `modify -s 60 -t daily ${file} --knob_a=1`,
    `modify -d URL -t daily ${file} --knob_a=1 --blob_credentials=/credentials/file`,
    `discontinue -t daily ${file} --knob_a=1`,
    "delete -d URL --knob_a=1 --blob_credentials=/credentials/file",
  ]);
});

test("[BK17] options that depend on the version", () => {
  const versions = ["7.1.67", "7.3.72", "7.3.73", "7.4.5", "7.4.6"];
  assert.deepEqual(versions.map(knowsEncryption), [false, false, true, false, true]);
  const line = (version: string): string => {
    const spec = { version, encryptionKeyPath: "/k", backupType: "partitioned_log" } as const;
    return startCommand(backupWith(spec), "URL", "").args.join(" ");
  };
  assert.match(line("7.4.6"), / --encryption-key-file \/k --partitioned-log-experimental -C/);
  assert.match(line("7.4.7"), / --mutation-log-type partitioned-log-experimental -C/);
  assert.doesNotMatch(line("7.3.72"), /encryption/);
});

test("[BK1][BK2] a secret is compared and never shown", () => {
  const backup = backupWith({ blobStoreConfiguration: { accountName: "key:s/e:token@host:80" } });
  const url = backupUrl(backup) ?? "";
  assert.equal(url, "blobstore://key:s%2Fe%3Atoken@host:80/nightly?bucket=fdb-backups");
  assert.equal(maskedUrl(url), "blobstore://key:***@host:80/nightly?bucket=fdb-backups");
  assert.equal(maskedUrl(nightlyUrl), nightlyUrl);
  assert.equal(
    withoutSecrets(`ERROR: 'x' on URL '${url}' and blobstore://k@h:1/x?bucket=a:b@c`),
    "ERROR: 'x' on URL 'blobstore://key:***@host:80/nightly?bucket=fdb-backups' and blobstore://k@h:1/x?bucket=a:b@c",
  );
  assert.equal(backupWarnings(backup).length, 1);
  assert.ok(!JSON.stringify(backupWarnings(backup)).includes("token"));
  assert.deepEqual(backupWarnings(backupWith()), []);
});
