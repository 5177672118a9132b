// What the status says, also about a database that cannot be reached.
import assert from "node:assert/strict";
import { generousMs, processOf, serverNames, settled, statusOf, until } from "./database-case.ts";
import type { DatabaseCase } from "./database-case.ts";

export const statusCases: readonly DatabaseCase[] = [
  {
    title: "[DB31] the status lists every process with what the operator reads of it",
    stage: "running",
    async run(target) {
      const status = await settled(target);
      for (const name of serverNames) {
        const process = processOf(status, target.endpoint(name));
        assert.equal(process?.address, target.address(name), name);
        assert.equal(process?.class_type, name.replace(/-\d$/, ""), name);
        assert.equal(process?.locality?.["instance_id"], name, name);
        assert.equal(process?.fault_domain, `zone-${name}`, name);
        assert.equal(process?.version, target.version, name);
        assert.match(process?.command_line ?? "", /--class/, name);
        assert.equal(process?.excluded, false, name);
        assert.ok((process?.uptime_seconds ?? -1) >= 0, name);
      }
      const { cluster, client } = status;
      assert.equal(client?.coordinators?.coordinators?.length, 3);
      assert.equal(cluster?.recovery_state?.name, "fully_recovered");
      assert.equal(cluster?.fault_tolerance?.max_zone_failures_without_losing_data, 1);
      assert.equal(typeof cluster?.generation, "number");
      assert.equal(cluster?.database_lock_state?.locked, false);
    },
  },
  {
    title: "[DB38] a client shows with the log group that upgrades do not wait for",
    stage: "running",
    async run(target) {
      const groups = await until(target, "aware of its client", ({ cluster }) =>
        (cluster?.clients?.supported_versions ?? []).some(({ max_protocol_clients }) =>
          max_protocol_clients?.some(({ log_group }) => log_group === "fdb-kubernetes-operator"),
        ),
      );
      assert.ok(groups.cluster?.clients?.count !== undefined);
    },
  },
  {
    title: "[DB15] [DB31] nobody there: the status says so, everything else is timed_out",
    stage: "running",
    async run({ open, deadConnectionString, finish }) {
      const admin = open(deadConnectionString);
      try {
        const status = await finish(admin.status(30_000));
        assert.equal(status.client?.coordinators?.quorum_reachable, false);
        assert.equal(status.client?.database_status?.available, false);
        const timedOut = { code: 1031 };
        await assert.rejects(finish(admin.excluded(2_000)), timedOut);
        await assert.rejects(
          finish(admin.exclude(["127.83.0.1"], { wait: false, timeoutMs: 2_000 })),
          timedOut,
        );
        await assert.rejects(finish(admin.kill(["127.83.0.1:4501"], 2_000)), timedOut);
        await assert.rejects(finish(admin.setMaintenanceZone("z", 60, 2_000)), timedOut);
        await assert.rejects(
          finish(
            admin.transact((transaction) => transaction.get(new Uint8Array([1])), {
              timeoutMs: 2_000,
            }),
          ),
          timedOut,
        );
      } finally {
        admin.close();
      }
    },
  },
  {
    title: "[DB31] a connection string that cannot be read is connection_string_invalid",
    stage: "running",
    async run({ open, finish }) {
      const admin = open("nonsense");
      try {
        await assert.rejects(finish(admin.status(20_000)), { code: 2104 });
      } finally {
        admin.close();
      }
    },
  },
  {
    title: "[DB31] a database that loses its coordinators is unavailable and comes back by itself",
    stage: "running",
    async run(target) {
      const { stop, restart, finish, admin } = target;
      const before = await settled(target);
      const coordinators = (before.client?.coordinators?.coordinators ?? []).map(
        ({ address }) => address,
      );
      const names = serverNames.filter((name) => coordinators.includes(target.address(name)));
      assert.equal(names.length, 3);
      for (const name of names.slice(0, 2)) stop(name);
      try {
        await until(
          target,
          "unavailable",
          ({ client }) => client?.coordinators?.quorum_reachable === false,
        );
        const write = admin.transact(
          async (transaction) => transaction.set(new Uint8Array([1]), new Uint8Array()),
          { timeoutMs: 3_000 },
        );
        await assert.rejects(finish(write), { code: 1031 });
      } finally {
        for (const name of names.slice(0, 2)) restart(name);
      }
      await settled(target);
      assert.equal((await statusOf(target)).client?.database_status?.available, true);
    },
  },
  {
    title: "[DB10] [DB14] a client whose process dies answers as if nothing had happened",
    stage: "running",
    needs: "client-process",
    async run(target) {
      const { admin, crashClient, finish } = target;
      const before = await finish(admin.connectionString(generousMs));
      crashClient?.();
      assert.equal(await finish(admin.connectionString(generousMs)), before);
      assert.equal((await statusOf(target)).client?.database_status?.available, true);
    },
  },
];
