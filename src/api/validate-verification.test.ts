// What is wrong with the drills that a backup asks for. Rules: spec/backup.md [BK172].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { backupWith } from "../../test/fixtures/backup-scene.ts";
import type { BackupSpec } from "./backup.ts";
import { validateBackup } from "./validate-backup.ts";

type Verification = NonNullable<BackupSpec["verification"]>;

const good: Verification = {
  schedule: { cron: "0 4 * * 0", timeZone: "Europe/Berlin" },
  template: { spec: { processCounts: { storage: 2, log: 2, stateless: 2 } } },
  check: { spec: { containers: [{ name: "check", image: "example.com/check:1" }] } },
  deadline: "12h",
};

function problemsOf(change: object, spec: Partial<BackupSpec> = {}): string[] {
  const verification = { ...good, ...change };
  return validateBackup(backupWith({ ...spec, verification })).map(
    ({ field, message, remedy }) => `${field}: ${message} (${remedy})`,
  );
}

const templateOf = (spec: object, metadata: object = {}): object => ({
  template: { spec: { ...good.template.spec, ...spec }, metadata },
});

test("[BK172] a drill as the manual has it is good, in every mode that the operator manages", () => {
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({}, { backupMode: "oneTime", schedule: { cron: "0 3 * * *" } }), []);
  assert.deepEqual(problemsOf({ check: undefined, deadline: undefined }), []);
});

test("[BK172] what cannot be right is named with its field and a remedy", () => {
  const place = "spec.verification";
  const table: [object, Partial<BackupSpec>, string][] = [
    [{}, { backupType: "unmanaged" }, `${place}: with backupType unmanaged`],
    [{ schedule: { cron: "every day" } }, {}, `${place}.schedule.cron: `],
    [{ schedule: { cron: "0 4 31 2 *" } }, {}, `${place}.schedule.cron: "0 4 31 2 *" never fires`],
    [
      { schedule: { cron: "*/30 * * * *" } },
      {},
      `${place}.schedule.cron: "*/30 * * * *" fires every 30 minutes`,
    ],
    [
      { schedule: { cron: "0 4 * * *", timeZone: "Europe/Berlni" } },
      {},
      `${place}.schedule.timeZone: there is no time zone "Europe/Berlni"`,
    ],
    [{ deadline: "5m" }, {}, `${place}.deadline: `],
    [{ deadline: "8d" }, {}, `${place}.deadline: `],
    [{ template: { spec: {} } }, {}, `${place}.template.spec.processCounts: it is not said`],
    [
      templateOf({ databaseConfigration: {} }),
      {},
      `${place}.template.spec.databaseConfigration: unknown field`,
    ],
    [
      templateOf({ databaseConfiguration: { redundancy_mode: "quadruple" } }),
      {},
      `${place}.template.spec.databaseConfiguration.redundancy_mode: `,
    ],
    [templateOf({ version: "6.1.0" }), {}, `${place}.template.spec.version: `],
    [
      templateOf({ seedConnectionString: "a:b@127.0.0.1:4501" }),
      {},
      `${place}.template.spec.seedConnectionString: the cluster of a drill would join`,
    ],
    [
      templateOf({ labels: { matchLabels: { app: "orders" } } }),
      {},
      `${place}.template.spec.labels.matchLabels: pods of drills would be taken`,
    ],
    [templateOf({ skip: true }), {}, `${place}.template.spec.skip: `],
    [
      templateOf({}, { annotations: { "foundationdb.org/deletion-protection": "true" } }),
      {},
      `${place}.template.metadata.annotations: `,
    ],
    [{ check: { spec: { containers: [] } } }, {}, `${place}.check.spec.containers: `],
    [
      { check: { spec: { containers: [{ name: "c", comand: ["x"] }] } } },
      {},
      `${place}.check.spec.containers[0].comand: unknown field`,
    ],
  ];
  for (const [change, spec, beginning] of table) {
    const found = problemsOf(change, spec);
    assert.ok(
      found.some((text) => text.startsWith(beginning) && /\(.+\)$/.test(text)),
      `${beginning}\n${found.join("\n")}`,
    );
  }
});
