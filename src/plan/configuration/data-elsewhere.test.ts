// What is told of a database that spec.adopt brings back and that does not serve, by what its claims and its status say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";

const adopt = { adopt: { volumes: { matchLabels: { a: "b" } } } };
const elsewhere = /; the annotation \S+ of sample-storage-\d+-data says that data was written/;
const first = /^Set spec\.imageType, spec\.storageServersPerPod and spec\.logServersPerPod/;
const last = /^Look at the pods of the coordinators.* look whether spec\.imageType, .* written\.$/;
const usual = /^Look at the pods of the coordinators[^.]*\.$/;

interface Case {
  what: string;
  spec?: Partial<ClusterSpec>;
  layout?: string;
  quorum?: boolean;
  message: RegExp;
  remedy: RegExp;
}

const cases: readonly Case[] = [
  { what: "a claim tells another place", layout: "2", message: elsewhere, remedy: first },
  { what: "claims tell the place", message: /recruited$/, remedy: last },
  { what: "claims do not tell", layout: "spoilt", message: /recruited$/, remedy: last },
  {
    ...{ what: "a claim tells another place, and coordinators are away", layout: "2" },
    ...{ quorum: false, message: /cannot be reached$/, remedy: usual },
  },
  { what: "nothing is adopted", layout: "2", spec: {}, message: /recruited$/, remedy: usual },
];

for (const { what, spec = adopt, layout, quorum = true, message, remedy } of cases) {
  test(`[ADO21] a database that was created and does not serve: ${what}`, () => {
    const world = new PlanWorld();
    assert.ok(world.settle().isReconciled);
    world.changeSpec(spec);
    world.cluster = { ...world.cluster, status: { ...world.cluster.status, configured: false } };
    for (const [name, claim] of world.pvcs) {
      if (layout === undefined || !name.includes("-storage-")) continue;
      const annotations = { ...claim.metadata.annotations, [annotationKeys.diskLayout]: layout };
      world.pvcs.set(name, { ...claim, metadata: { ...claim.metadata, annotations } });
    }
    const database = world.database();
    assert.ok(database.kind === "seen");
    const status = {
      client: {
        coordinators: { coordinators: [], quorum_reachable: quorum },
        database_status: { available: false, healthy: false },
      },
      cluster: { recovery_state: { name: "all_logs_recruited" } },
    };
    const plan = world.plan({ database: { ...database, status } });
    const wait = plan.waits.find(({ step }) => step === "updateDatabaseConfiguration");
    assert.equal(wait?.reason, "DatabaseNotReady");
    assert.match(wait.message, message);
    assert.match(wait.remedy ?? "", remedy);
  });
}
