// A database that speaks TLS only: where addresses carry the suffix and where they must not.
import assert from "node:assert/strict";
import { coordinatorsOf } from "../../src/model/connection-string.ts";
import { firstCoordinators, processOf, settled } from "./database-case.ts";
import type { DatabaseCase } from "./database-case.ts";

const commandMs = 30_000;

export const tlsCases: readonly DatabaseCase[] = [
  {
    title: "[DB31] status and connection string carry the suffix of TLS",
    stage: "tls",
    async run(target) {
      const status = await settled(target);
      assert.ok(target.address("storage-1").endsWith(":tls"));
      for (const { address } of Object.values(status.cluster?.processes ?? {})) {
        assert.ok(address?.endsWith(":tls"), address);
      }
      const text = await target.finish(target.admin.connectionString(commandMs));
      assert.ok(coordinatorsOf(text).every((address) => address.endsWith(":tls")));
    },
  },
  {
    title: "[DB32] [DB35] exclusions and restarts take addresses without the suffix",
    stage: "tls",
    async run(target) {
      const { admin, finish } = target;
      const storage = target.endpoint("storage-1");
      const options = { wait: false, timeoutMs: commandMs };
      await assert.rejects(finish(admin.exclude([target.address("storage-1")], options)));
      await finish(admin.exclude([storage], options));
      assert.deepEqual(await finish(admin.excluded(commandMs)), [storage]);
      await finish(admin.include([storage], commandMs));
      await assert.rejects(finish(admin.kill([target.address("storage-1")], commandMs)));
      await finish(admin.kill([storage], commandMs));
      await target.pass(6);
      const status = await settled(target);
      assert.ok((processOf(status, storage)?.uptime_seconds ?? 1e9) < 120);
    },
  },
  {
    title: "[DB36] coordinators take addresses with the suffix",
    stage: "tls",
    async run(target) {
      await settled(target);
      const wanted = ["storage-1", "storage-2", "storage-3"].map(target.address);
      const text = await target.finish(target.admin.changeCoordinators(wanted, 60_000));
      assert.deepEqual([...coordinatorsOf(text)].toSorted(), wanted.toSorted());
      const back = firstCoordinators.map(target.address);
      await target.finish(target.admin.changeCoordinators(back, 60_000));
      await settled(target);
    },
  },
  {
    title: "[DB15] a client without a certificate reaches nobody",
    stage: "tls",
    needs: "client-process",
    async run({ openWithoutCertificate, finish }) {
      const admin = openWithoutCertificate?.();
      assert.ok(admin);
      try {
        await assert.rejects(finish(admin.excluded(3_000)));
        const status = await finish(admin.status(20_000)).catch(() => undefined);
        assert.notEqual(status?.client?.database_status?.available, true);
      } finally {
        admin.close();
      }
    },
  },
];
