// Random restores of a database that is written to all the time: each equals the source at its version, key by key.
// Rules: spec/restore.md [RS56].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { RestoreSpec } from "../../src/api/restore.ts";
import { randomInteger, randomPick, seededRandom } from "../../src/env/random.ts";
import { RestoreWorld } from "./managed-restore.ts";

const restores = 8;

test("[RS56][RS12] random restores under random writes equal the source at their version, in their ranges (long)", async () => {
  const random = seededRandom(11);
  const key = (): string => `k/${String(randomInteger(random, 0, 30)).padStart(2, "0")}`;
  await RestoreWorld.runRestores({}, async (scene) => {
    for (let count = 1; count <= restores; count += 1) {
      for (let write = 0; write < 6; write += 1) {
        await scene.write("sample", { [key()]: String(random.next()), [key()]: `${count}` });
        await scene.advance(randomInteger(random, 1, 15) * 1000);
      }
      const { restorable } = await scene.status();
      const [from, to] = [restorable?.from?.version ?? 0, restorable?.to?.version ?? 0];
      const name = `walk-${count}`;
      const [start = "", end = ""] = [key(), key()].toSorted();
      const isPart = start < end && randomPick(random, [true, false]);
      const spec: Partial<RestoreSpec> = {
        addPrefix: `${name}/`,
        ...(isPart ? { keyRanges: [{ start, end }] } : {}),
        ...randomPick(random, [
          {},
          { to: { version: from + Math.floor(random.next() * (to - from)) } },
          { to: { time: new Date(scene.world.clock.nowMs() - 40_000).toISOString() } },
        ]),
      };
      await scene.createRestore(spec, name);
      await scene.untilCompleted(name);
      const { target, state } = await scene.restoreStatus(name);
      assert.equal(state, "completed");
      const wanted = (await scene.content("sample", target?.version))
        .filter((entry) => !isPart || (entry >= start && entry < end))
        .map((entry) => `${name}/${entry}`);
      const held = await scene.content("copy");
      const own = held.filter((entry) => entry.startsWith(`${name}/`));
      assert.deepEqual(own, wanted, JSON.stringify({ spec, target }));
    }
    assert.equal(scene.begun().filter((command) => command === "start").length, restores + 1);
  });
});
