// A life of a backup uses exactly the rights that the operator's roles give it for backups. Rules: spec/backup.md [BK120].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { RequestRecord } from "../../src/kube/client.ts";
import { leaseRules, namespacedRules, nodeRules } from "../../src/operate/permissions.ts";
import type { PolicyRule } from "../../src/operate/permissions.ts";
import { BackupWorld, nightly } from "./managed-backup.ts";
import { minuteMs } from "./world-harness.ts";

function rightsOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${resource}`)),
  );
}

function rightOf({ verb, resource, subresource }: RequestRecord): string {
  const part = subresource === undefined ? "" : `/${subresource}`;
  return `${verb} ${resource.group}/${resource.plural}${part}`;
}

test("[BK120] no request goes beyond the roles, and none of the rights for backups is idle", async () => {
  await BackupWorld.run({}, async (scene) => {
    const retention = { restorableFor: "5m", interval: "10m" };
    await scene.create({ retention, deletionPolicy: "cleanup" });
    await scene.untilRestorable();
    await scene.advance(18 * minuteMs);
    assert.ok(scene.begun().includes("expire"));
    await scene.change({ agentCount: 1 });
    await scene.advance(minuteMs);
    await scene.change({ agentCount: 0 });
    await scene.advance(minuteMs);
    await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.untilGone();
    assert.equal(scene.objects(), 0);
    const used = new Set(scene.world.requests.map(rightOf));
    const granted = rightsOf([...namespacedRules, ...leaseRules, ...nodeRules]);
    assert.deepEqual(
      [...used].filter((right) => !granted.includes(right)),
      [],
    );
    const ofBackups = granted.filter((right) => /deployments|backups|pods\/log/.test(right));
    assert.deepEqual(
      ofBackups.filter((right) => !used.has(right)),
      // The answer to a creation was lost.
      ["get apps/deployments"],
    );
    assert.ok(!granted.some((right) => right.includes("secrets")));
  });
});
