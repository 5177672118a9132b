// Another version of the same line is wanted right after an incompatible upgrade, when pods still run it with binaries that were copied
// into them: they have no binary of that version. Rules: spec/upgrade.md [U86].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { securedProcesses } from "./world-harness.ts";
import {
  announced,
  assertAllOn,
  newVersion,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";

const laterVersion = "7.3.69";

for (const podUpdateStrategy of ["Delete", "ReplaceTransactionSystem"] as const) {
  test(`[U86][T52] a later patch version and TLS right after an incompatible upgrade (${podUpdateStrategy}) (long)`, async () => {
    const automationOptions = { podUpdateStrategy, waitBetweenRemovalsSeconds: 0 };
    const spec = { imageType: "unified", processes: securedProcesses, automationOptions } as const;
    await upgradeWorld({ spec, hasCertificates: true }, async (world) => {
      await world.changeSpec({ version: newVersion });
      await untilRunning(world, newVersion);
      await world.changeSpec({ version: laterVersion, mainContainer: { enableTls: true } });
      await world.untilReconciled(upgradeLimitMs);
      const { connectionString = "" } = (await world.cluster()).status ?? {};
      for (const address of coordinatorsOf(connectionString)) assert.match(address, /:tls$/);
      assert.equal(await announced(world), laterVersion);
      await assertAllOn(world, laterVersion);
    });
  });
}
