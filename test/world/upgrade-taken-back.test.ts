// A version that is taken back while all processes restart with the new one: whichever of them wins, the database serves,
// all processes are there, and the operator knows what runs. Rules: spec/upgrade.md [U39], [U84].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  blockedBy,
  newVersion,
  oldVersion,
  statusOf,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const refusal = /VersionChangeRefused: Version 7\.3\.63 cannot be changed to 7\.1\.57/;
const imageTypes = ["unified", "split"] as const;

/** From the change of the version to the restart; the same history every time. */
async function timeOfRestart(imageType: (typeof imageTypes)[number]): Promise<number> {
  let tookMs = 0;
  await upgradeWorld({ spec: { imageType } }, async (world) => {
    const startMs = world.clock.nowMs();
    await world.changeSpec({ version: newVersion });
    while (!hasRestarted(world)) await world.clock.advance(10);
    tookMs = world.clock.nowMs() - startMs;
    await world.untilReconciled(upgradeLimitMs);
  });
  return tookMs;
}

function hasRestarted(world: TestWorld): boolean {
  return world.trace.lines().some((line) => line.includes("killed by a client's request"));
}

/** The version that the processes run, which are all there; the operator knows it and says what it means. */
async function versionThatServes(world: TestWorld): Promise<string> {
  const running = (await world.cluster()).status?.runningVersion ?? "";
  const { client, cluster } = await statusOf(world, running);
  assert.equal(client?.database_status?.available, true, await world.report());
  const versions = Object.values(cluster?.processes ?? {}).map(({ version }) => version);
  assert.ok(versions.length >= 9, `${versions.length} processes ${await world.report()}`);
  assert.deepEqual([...new Set(versions)], [running]);
  if (running === oldVersion) await world.untilReconciled(upgradeLimitMs);
  else assert.match(await blockedBy(world), refusal);
  return running;
}

for (const imageType of imageTypes) {
  test(`[U39][U84] a version that is taken back around the restart of all processes (${imageType}) (long)`, async (context) => {
    const restartMs = await timeOfRestart(imageType);
    const found = new Set<string>();
    for (const offsetMs of [-400, -100, -50, 0, 50, 150, 300, 500, 2_000]) {
      await context.test(`${offsetMs} ms after it`, async () => {
        await upgradeWorld({ spec: { imageType }, keepLines: 2_000 }, async (world) => {
          await world.changeSpec({ version: newVersion });
          await world.clock.advance(restartMs + offsetMs);
          await world.changeSpec({ version: oldVersion });
          await world.clock.advance(2 * minuteMs);
          found.add(await versionThatServes(world));
        });
      });
    }
    assert.ok(found.has(newVersion));
  });
}
