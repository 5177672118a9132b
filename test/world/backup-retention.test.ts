// What a retention keeps and lets go, in a whole world. Rules: spec/backup.md [BK100]-[BK104].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { parseTime } from "../../src/kube/time.ts";
import type { KubeRequest, KubeTransport } from "../../src/kube/transport.ts";
import { BackupWorld, nightly } from "./managed-backup.ts";
import type { TestWorld } from "./world-harness.ts";
import { minuteMs } from "./world-harness.ts";

const retention = { restorableFor: "10m", interval: "10m" };

async function windowMinutes(scene: BackupWorld): Promise<number> {
  const { restorable } = await scene.status();
  const from = parseTime(restorable?.from?.time) ?? 0;
  return (scene.world.clock.nowMs() - from) / minuteMs;
}

test("[BK100][BK103] the last ten minutes stay restorable, and the store does not grow for ever (long)", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create({ retention });
    await scene.untilRestorable();
    await scene.advance(8 * minuteMs);
    assert.deepEqual(scene.begun(), ["describe", "start"], "nothing is old enough yet");
    const counts: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await scene.advance(15 * minuteMs);
      const minutes = await windowMinutes(scene);
      assert.ok(minutes >= 10 && minutes < 35, `${minutes} minutes are restorable`);
      counts.push(scene.objects("data/nightly/") + scene.objects("nightly/"));
      assert.deepEqual(await scene.reasons(), []);
    }
    const begun = scene.begun();
    const expiries = begun.filter((command) => command === "expire").length;
    assert.ok(expiries >= 3 && expiries <= 7, begun.join());
    assert.ok((counts.at(-1) ?? 0) < 1.5 * (counts[0] ?? 0), counts.join());
    const { restorable, expiry } = await scene.status();
    assert.equal(restorable?.from?.version, expiry?.restorableFrom);
    assert.equal((await scene.status()).generations?.reconciled, 1);
    scene.world.assertDataSafe();
  });
});

test("[BK104] nothing goes once somebody wants to keep more", async () => {
  let isEdited = false;
  const worlds: TestWorld[] = [];
  const lastLook = async ({ method, path }: KubeRequest): Promise<void> => {
    if (isEdited || method !== "GET" || !path.endsWith("/foundationdbbackups/nightly")) return;
    isEdited = true;
    const body = { spec: { retention: { restorableFor: "10d" } } };
    await worlds[0]?.client.patch(foundationDbBackups, nightly, body, { type: "merge" });
  };
  const wrapTransport = (transport: KubeTransport): KubeTransport => ({
    request: async (request) => {
      await lastLook(request);
      return transport.request(request);
    },
    watch: (request, onEvent) => transport.watch(request, onEvent),
  });
  await BackupWorld.run({ wrapTransport }, async (scene) => {
    worlds.push(scene.world);
    await scene.create({ retention });
    await scene.untilRestorable();
    await scene.advance(25 * minuteMs);
    assert.equal(isEdited, true, "the last look");
    assert.deepEqual(
      scene.begun().filter((command) => command === "expire"),
      [],
    );
  });
});
