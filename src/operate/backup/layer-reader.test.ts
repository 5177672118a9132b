// Reading the keys of a backup in the background. Rules: spec/backup.md [BK24].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AdminClient } from "../../fdb/admin.ts";
import type { BackupLayer } from "../../fdb/backup-layer.ts";
import { layerWith, recordWith } from "../../../test/fixtures/backup-scene.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { newBackupReader } from "./state.ts";

/** A connection that answers what the test says next. */
class Answers {
  next: BackupLayer | Error = layerWith(undefined);
  asked = 0;
  readonly client = {
    transact: () => {
      this.asked += 1;
      return this.next instanceof Error ? Promise.reject(this.next) : Promise.resolve(this.next);
    },
  } as unknown as AdminClient;
}

test("[BK24] news are told once, and one lost answer is none", async () => {
  const clock = new VirtualClock();
  const answers = new Answers();
  let news = 0;
  const reader = newBackupReader({ clock, timeoutMs: 1000, onNews: () => (news += 1) });
  const ask = async (): Promise<string> => {
    reader.ask(answers.client, { tag: "default" }, 1000);
    await clock.advance(1000);
    return reader.latest?.kind ?? "none";
  };
  assert.equal(await ask(), "seen");
  assert.equal(news, 1);
  answers.next = layerWith(recordWith());
  await ask();
  answers.next = layerWith(recordWith({ restorableTo: 101_000_000, logBytes: 500 }));
  await ask();
  assert.equal(news, 2, "figures are no news");
  answers.next = new Error("no quorum");
  assert.equal(await ask(), "seen");
  assert.equal(await ask(), "missing");
  assert.equal(await ask(), "missing");
  assert.equal(news, 3);
  reader.ask(answers.client, { tag: "default" }, 10_000);
  assert.equal(answers.asked, 6, "nobody asks more often than wanted");
  reader.ask(answers.client, { tag: "other" }, 10_000);
  assert.equal(reader.latest, undefined, "another tag is another question");
});
