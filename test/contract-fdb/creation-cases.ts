// Before and while a database comes into being.
import assert from "node:assert/strict";
import { isSettled, serverNames, settled, statusOf, until } from "./database-case.ts";
import type { DatabaseCase } from "./database-case.ts";

export const creationCases: readonly DatabaseCase[] = [
  {
    title: "[DB31] a database without configuration gives a status that says so",
    stage: "new",
    async run(target) {
      const status = await until(
        target,
        "reachable",
        ({ client }) => client?.coordinators?.quorum_reachable === true,
      );
      assert.equal(status.client?.database_status?.available, false);
      assert.equal(isSettled(status), false);
    },
  },
  {
    title: "[DB31] two who ask a database without configuration both get a status",
    stage: "new",
    async run(target) {
      const other = target.open();
      try {
        const limitMs = 60_000;
        const asked = [target.admin, other, target.admin].map((each) => each.status(limitMs));
        for (const status of await target.finish(Promise.all(asked))) {
          assert.equal(status.client?.database_status?.available, false);
        }
      } finally {
        other.close();
      }
    },
  },
  {
    title: "[DB15] [DB41] a change of what is not configured takes its time and is timed_out",
    stage: "new",
    async run({ admin, finish }) {
      await assert.rejects(finish(admin.configure("double", 4_000)), { code: 1031 });
      await assert.rejects(finish(admin.excluded(2_000)), { code: 1031 });
    },
  },
  {
    title: "[DB42] configure new creates the database",
    stage: "new",
    async run(target) {
      const { admin, finish } = target;
      await finish(admin.configure("new double ssd", 60_000));
      const status = await settled(target);
      assert.equal(status.cluster?.configuration?.redundancy_mode, "double");
      assert.equal(Object.keys(status.cluster?.processes ?? {}).length, serverNames.length);
    },
  },
  {
    title: "[DB42] configure new on a database that exists is refused",
    stage: "running",
    async run({ admin, finish }) {
      await assert.rejects(finish(admin.configure("new double ssd", 30_000)), {
        message: /already exists/,
      });
    },
  },
  {
    title:
      "[DB42] [DB44] words that are none, and words that would be another command, change nothing",
    stage: "running",
    async run(target) {
      const { admin, finish } = target;
      for (const text of ["tripple", "", "double; kill all", "double\nkill"]) {
        await assert.rejects(finish(admin.configure(text, 30_000)), text);
      }
      const status = await statusOf(target);
      assert.equal(status.cluster?.configuration?.redundancy_mode, "double");
    },
  },
  {
    title: "[DB42] a change of the configuration shows in the status",
    stage: "running",
    async run(target) {
      const { admin, finish } = target;
      await finish(admin.configure("logs=2", 30_000));
      await until(target, "changed", ({ cluster }) => cluster?.configuration?.logs === 2);
      await finish(admin.configure("logs=3", 30_000));
      await until(target, "changed", ({ cluster }) => cluster?.configuration?.logs === 3);
      await settled(target);
    },
  },
];
