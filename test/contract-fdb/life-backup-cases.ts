// A cluster whose backup is a resource: agents and commands run as pods, into an S3 server, and a second resource brings the
// data back under another prefix. Rules: spec/real-database.md [DB78].
import assert from "node:assert/strict";
import { bytesOfText, prefixEnd } from "../../src/fdb/bytes.ts";
import {
  createBackup,
  createRestore,
  removeBackup,
  untilBackup,
  untilRestored,
} from "./life-backup-steps.ts";
import { lifePrefix } from "./life-data.ts";
import { lifeKey } from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

const restoreName = "again";
const copyPrefix = "copy/";

export const lifeBackupCases: readonly LifeCase[] = [
  {
    title:
      "[DB78] agents in pods back the cluster up into a bucket, and a restore brings back what it held",
    needs: "object-store",
    async run(target) {
      const { data, store } = target;
      assert.ok(store !== undefined, "there is no S3 server");
      await createBackup(target, store);
      await untilBackup(target, "the backup is restorable", ({ backupDetails }) =>
        Boolean(backupDetails?.restorable),
      );
      await data.write();
      // The restorable point is at most forty seconds behind.
      await target.pass(60);
      await createRestore(target, restoreName, {
        destinationClusterName: lifeKey.name,
        to: { latest: true },
        keyRanges: [{ start: lifePrefix, end: "life0" }],
        addPrefix: copyPrefix,
      });
      await untilRestored(target, restoreName);
      await data.verify(copyPrefix);
      await removeBackup(target, [restoreName]);
      await clearCopy(target);
    },
  },
];

async function clearCopy({ admin, finish }: LifeTarget): Promise<void> {
  const begin = bytesOfText(copyPrefix);
  await finish(
    admin.transact(async (each) => each.clearRange(begin, prefixEnd(begin)), {
      timeoutMs: 60_000,
    }),
  );
}
