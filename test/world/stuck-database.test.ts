// Ways in which the database keeps the operator waiting, and the true cause of each. Rules: spec/explain.md [E40].
import { OperatorKeys, operatorKeys } from "../../src/fdb/keys.ts";
import { LockWatch, takeLock } from "../../src/fdb/lock.ts";
import type { AdminClientFactory } from "../../src/fdb/admin.ts";
import { FdbError } from "../../src/fdb/error.ts";
import { groups, person } from "./removal-harness.ts";
import { stuckTest } from "./stuck-case.ts";
import { frugalProcesses, minuteMs, small, tiny } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

async function connectionString(world: TestWorld): Promise<string> {
  return (await world.cluster()).status?.connectionString ?? "";
}

/** Nobody reaches the pods of a class any more, neither the database nor its clients. */
async function cutPods(world: TestWorld, processClass: string, count: number): Promise<void> {
  for (const pod of (await world.pods(processClass)).slice(0, count)) {
    world.world.fdb.faults.cutAddress(pod.status?.podIP ?? "");
  }
}

stuckTest({
  title: "most coordinators cannot be reached",
  spec: small,
  happens: (world) => cutPods(world, "log", 3),
  reason: "DatabaseUnavailable",
  message: /3 of 3 coordinators cannot be reached: .*sample-log-/,
  page: /THE DATABASE IS DOWN for \d+m: .*3 of 3 coordinators cannot be reached/,
});

stuckTest({
  title: "all transaction logs are gone",
  spec: {
    ...small,
    processCounts: { storage: 5, log: 3, stateless: 3 },
    coordinatorSelection: [{ processClass: "storage", priority: 10 }],
  },
  happens: (world) => cutPods(world, "log", 3),
  reason: "DatabaseUnavailable",
  isSecond: true,
  message: /it waits for transaction logs of its last generation/,
  page: /THE DATABASE IS DOWN for \d+m: .*waits for transaction logs.*does not see the processes of pods sample-log/,
});

stuckTest({
  title: "the database is locked (told, and nothing waits for it)",
  spec: small,
  happens: async (world) => {
    world.world.fdb.lock(await connectionString(world));
  },
  page: /not as well as it should: the database is locked by [0-9a-f]+.*As specified yes.*DatabaseLocked/,
});

stuckTest({
  title: "fewer fault domains than coordinators",
  world: { nodes: 2 },
  spec: small,
  isNew: true,
  reason: "CoordinatorsNotRunning",
  message: /Coordinators need 3 zones, but the running pods are in 2/,
  page: /does not come up by itself.*need 3 zones, but the running pods are in 2/,
});

stuckTest({
  title: "three_data_hall without halls",
  world: { nodes: 12 },
  spec: { databaseConfiguration: { redundancy_mode: "three_data_hall" } },
  isNew: true,
  reason: "ConfigurationUnsafe",
  message: /three_data_hall needs storage processes in 3 values of data_hall/,
  page: /does not come up by itself.*needs storage processes in 3 values of data_hall/,
});

stuckTest({
  title: "configuring is disabled",
  spec: { ...tiny, automationOptions: { configureDatabase: false } },
  isNew: true,
  reason: "ConfigureDisabled",
  message: /automationOptions\.configureDatabase/,
  page: /does not come up by itself.*ConfigureDisabled.*Do: .*configure/,
});

stuckTest({
  title: "restarting is disabled",
  spec: { ...small, automationOptions: { killProcesses: false } },
  happens: async (world) => {
    const customParameters = ["knob_max_trace_lines=5"];
    await world.changeSpec({ processes: { general: { customParameters } } });
  },
  reason: "ProcessNeedsRestart",
  message: /automationOptions\.killProcesses is off/,
  page: /the operator is stuck.*killProcesses is off.*Do: Restart them/,
});

stuckTest({
  title: "deleting pods is disabled",
  spec: { ...small, automationOptions: { deletionMode: "None" } },
  happens: async (world) => {
    const env = [{ name: "EXTRA", value: "1" }];
    const containers = (frugalProcesses?.["general"]?.podTemplate?.spec?.containers ?? []).map(
      (container) => ({ ...container, env }),
    );
    await world.changeSpec({ processes: { general: { podTemplate: { spec: { containers } } } } });
  },
  reason: "PodChangePending",
  message: /automationOptions\.deletionMode is None/,
  page: /the operator is stuck.*deletionMode is None.*Do: Delete them/,
});

stuckTest({
  title: "another resource wants another redundancy of the same database",
  world: { nodes: 9 },
  spec: { ...small, processGroupIDPrefix: "one" },
  happens: async (world) => {
    const seedConnectionString = await connectionString(world);
    await world.createCluster(
      {
        databaseConfiguration: { redundancy_mode: "triple" },
        processGroupIDPrefix: "two",
        seedConnectionString,
        processCounts: { storage: 5, log: 4, stateless: -1 },
      },
      { name: "second" },
    );
  },
  name: "second",
  reason: "ConfigurationConflict",
  message: /Another instance set redundancy mode double/,
  page: /Another instance set redundancy mode double.*Do: Give all resources/,
});

stuckTest({
  title: "a client that does not speak the new version",
  spec: small,
  happens: async (world) => {
    world.world.fdb.addClient(await connectionString(world), {
      address: "10.9.9.9:4000",
      logGroup: "shop",
      versions: ["7.1.67", "7.3.63"],
    });
    await world.changeSpec({ version: "7.4.3" });
  },
  reason: "ClientsIncompatible",
  message: /10\.9\.9\.9/,
  page: /ClientsIncompatible.*10\.9\.9\.9/,
});

stuckTest({
  title: "another operator instance holds the lock",
  world: { nodes: 9 },
  spec: { ...small, lockOptions: { disableLocks: false }, processCounts: { storage: 3, log: 6 } },
  happens: async (world) => {
    const { spec } = await world.cluster();
    const text = await connectionString(world);
    const admin = world.world.fdb.admin.open({
      name: "other",
      connectionString: text,
      version: spec.version,
    });
    const keys = new OperatorKeys(operatorKeys().prefix);
    const settings = { owner: "elsewhere", durationMs: 60 * minuteMs, watch: new LockWatch() };
    await world.during(takeLock({ admin, keys }, settings, world.clock), minuteMs, "the lock");
    admin.close();
    await world.changeSpec({ databaseConfiguration: { logs: 4 } });
  },
  reason: "LockHeld",
  message: /elsewhere/,
  page: /LockHeld.*elsewhere.*Do: .*denyList/,
});

stuckTest({
  title: "nobody answers behind the seed",
  spec: { ...tiny, seedConnectionString: "other:abcd@10.99.0.1:4501" },
  isNew: true,
  reason: "DatabaseNotReady",
  message: /1 of 1 coordinators cannot be reached: 10\.99\.0\.1:4501/,
  page: /10\.99\.0\.1/,
});

/** The operator's packets to the database are dropped from the moment that it happens. */
function cutRoad(): { wrap: (admin: AdminClientFactory) => AdminClientFactory; cut: () => void } {
  let isCut = false;
  const wrap = (admin: AdminClientFactory): AdminClientFactory => ({
    isVersionSupported: (version) => admin.isVersionSupported(version),
    installedVersions: () => admin.installedVersions(),
    open(options) {
      const client = admin.open(options);
      const status = client.status.bind(client);
      client.status = (timeoutMs) =>
        isCut
          ? Promise.reject(new FdbError(1031, "no answer from the coordinators in time"))
          : status(timeoutMs);
      return client;
    },
  });
  return { wrap, cut: () => (isCut = true) };
}

const road = cutRoad();

stuckTest({
  title: "a network policy keeps the operator from the database",
  world: { wrapAdmin: road.wrap },
  spec: tiny,
  happens: async () => road.cut(),
  reason: "DatabaseUnreachable",
  message: /no answer from the coordinators in time/,
  page: /NOBODY KNOWS whether the database serves.*no answer from the coordinators in time/,
});

/** The simulated disks are endless, so the status is made to tell of full ones. */
function withFullDisks(admin: AdminClientFactory): AdminClientFactory {
  return {
    isVersionSupported: (version) => admin.isVersionSupported(version),
    installedVersions: () => admin.installedVersions(),
    open(options) {
      const client = admin.open(options);
      const ask = client.status.bind(client);
      client.status = async (timeoutMs) => {
        const status = await ask(timeoutMs);
        const processes = Object.entries(status.cluster?.processes ?? {}).map(([id, process]) => [
          id,
          { ...process, disk: { free_bytes: 3_000_000, total_bytes: 100_000_000 } },
        ]);
        return {
          ...status,
          cluster: { ...status.cluster, processes: Object.fromEntries(processes) },
        };
      };
      return client;
    },
  };
}

stuckTest({
  title: "an exclusion that does not end, since disks are full",
  world: {
    nodes: 9,
    wrapAdmin: withFullDisks,
    database: { timings: { moveBytesPerSecond: 1 } },
  },
  spec: { ...small, processCounts: { storage: 5, log: 3, stateless: 3 } },
  happens: async (world) => {
    await world.changeSpec({ processCounts: { storage: 4 } });
  },
  limitMs: 30 * minuteMs,
  reason: "DiskSpaceLow",
  message: /storage-\d+ \(3% free\)/,
  page: /DiskSpaceLow.*\(3% free\).*Do: Add storage processes.*ExclusionRunning/,
});

stuckTest({
  title: "a process that somebody excluded",
  spec: small,
  happens: async (world) => {
    const [group] = await groups(world, "storage");
    const targets = [`locality_instance_id:${group?.processGroupID}`];
    await person(world, (client) => client.exclude(targets, { wait: false, timeoutMs: 5_000 }));
  },
  reason: "ProcessImpaired",
  message: /^storage-\d+ is excluded from the database, and nobody asked for its removal/,
  page: /storage-\d+ is excluded from the database.*Include them again/,
});
