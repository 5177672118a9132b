// What is told of a database that spec.adopt brings back and that does not serve, by what its claims and its status say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PlanWorld } from "../../../test/operate/plan-world.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";

const adopt = { adopt: { volumes: { matchLabels: { a: "b" } } } };
const elsewhere =
  /; pods look .* annotation \S+ of their claims says, which for sample-storage-\d+-data/;
const untrue =
  /^Look at the pods of the coordinators.* If that annotation is not true, take it away/;
const last = /^Look at the pods of the coordinators.* look whether spec\.imageType, .* written\.$/;
const never = "configuration_never_created";
const usual = /^Look at the pods of the coordinators[^.]*\.$/;

interface Case {
  what: string;
  spec?: Partial<ClusterSpec>;
  layout?: string;
  quorum?: boolean;
  recovery?: string;
  message: RegExp;
  remedy: RegExp;
}

const cases: readonly Case[] = [
  { what: "a claim tells another place", layout: "2", message: elsewhere, remedy: untrue },
  { what: "claims tell the place", message: /recruited$/, remedy: usual },
  { what: "claims do not tell", layout: "spoilt", message: /recruited$/, remedy: last },
  {
    ...{ what: "a claim tells another place, and coordinators are away", layout: "2" },
    ...{ quorum: false, message: /cannot be reached$/, remedy: usual },
  },
  {
    ...{ what: "nothing is found, and claims do not tell", layout: "spoilt" },
    ...{
      recovery: never,
      message: /one$/,
      remedy: /^Set spec\.imageType.* If they are right, look for/,
    },
  },
  {
    ...{ what: "nothing is found, and a claim tells another place", layout: "2" },
    ...{
      recovery: never,
      message: elsewhere,
      remedy: /^If that annotation .* If it is true, look for/,
    },
  },
  {
    ...{ what: "nothing is found, and claims tell the place" },
    ...{ recovery: never, message: /one$/, remedy: /^Look for the right connection string/ },
  },
  { what: "nothing is adopted", layout: "2", spec: {}, message: /recruited$/, remedy: usual },
];

for (const { what, spec = adopt, layout, quorum = true, recovery, message, remedy } of cases) {
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
      cluster: { recovery_state: { name: recovery ?? "all_logs_recruited" } },
    };
    const plan = world.plan({ database: { ...database, status } });
    const wait = plan.waits.find(({ step }) => step === "updateDatabaseConfiguration");
    assert.equal(wait?.reason, "DatabaseNotReady");
    assert.match(wait.message, message);
    assert.match(wait.remedy ?? "", remedy);
  });
}
