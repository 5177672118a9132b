// Which engines storage servers run, and which they should.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus, StatusConfiguration } from "./database-status.ts";
import { engineView } from "./storage-engines.ts";

interface Server {
  engine?: unknown;
  zone?: string;
  datacenter?: string;
  isTesting?: boolean;
  isExcluded?: boolean;
}

function statusOf(
  configuration: StatusConfiguration,
  servers: Readonly<Record<string, Server>>,
): DatabaseStatus {
  const processes = Object.entries(servers).map(([name, server]) => [
    name,
    {
      excluded: server.isExcluded === true,
      locality: { instance_id: name, zoneid: server.zone ?? name, dcid: server.datacenter ?? "" },
      roles: [
        {
          role: "storage",
          stored_bytes: 100,
          tss: server.isTesting === true,
          storage_metadata: { storage_engine: server.engine },
        },
      ],
    },
  ]);
  return { cluster: { configuration, processes: Object.fromEntries(processes) } };
}

const gradual = {
  storage_engine: "ssd-redwood-1",
  storage_migration_type: "gradual",
  perpetual_storage_wiggle: 1,
};

test("[MIG6] servers of another engine are found with their bytes; testing servers and unknown names are none", () => {
  const view = engineView(
    statusOf(gradual, {
      a: { engine: "ssd-2", isExcluded: true },
      b: { engine: "ssd-redwood-1" },
      c: { engine: "ssd-2", isTesting: true },
      d: { engine: "ssd-of-tomorrow" },
      e: {},
      f: { engine: 7 },
      g: { engine: "toString" },
    }),
  );
  assert.equal(view?.servers, 2);
  assert.deepEqual(view?.old, [
    {
      name: "a",
      engine: "ssd-2",
      bytes: 100,
      isExcluded: true,
      isReached: true,
      createdMs: undefined,
      region: "",
      domains: 1,
      domainsWithout: 1,
    },
  ]);
  assert.equal(view?.pause, undefined);
});

test("[MIG6] two names of one engine are one engine, and an unknown one in the configuration says nothing", () => {
  const memory = statusOf({ storage_engine: "memory-2" }, { a: { engine: "memory" } });
  assert.deepEqual(engineView(memory)?.old, []);
  const odd = statusOf({ storage_engine: "custom" }, { a: { engine: "ssd-2" } });
  assert.equal(engineView(odd), undefined);
  assert.equal(engineView({}), undefined);
});

test("[MIG7] the engine of the wiggle counts where the wiggle reaches, and may be elsewhere already", () => {
  const configuration = {
    ...gradual,
    storage_engine: "ssd-2",
    perpetual_storage_wiggle_engine: "ssd-redwood-1",
    perpetual_storage_wiggle_locality: "zoneid:z1",
  };
  const view = engineView(
    statusOf(configuration, {
      a: { engine: "ssd-2", zone: "z1" },
      b: { engine: "ssd-redwood-1", zone: "z1" },
      c: { engine: "ssd-redwood-1", zone: "z2" },
      d: { engine: "ssd-2", zone: "z2" },
    }),
  );
  assert.deepEqual(
    view?.old.map(({ name }) => name),
    ["a"],
  );
  // A value may have colons of its own.
  const colons = { ...gradual, perpetual_storage_wiggle_locality: "zoneid:rack:7" };
  const [old] = engineView(statusOf(colons, { a: { engine: "ssd-2", zone: "rack:7" } }))?.old ?? [];
  assert.equal(old?.isReached, true);
});

test("[MIG4] what pauses it is named", () => {
  const servers = { a: { engine: "ssd-2" } };
  const pause = (configuration: StatusConfiguration) =>
    engineView(statusOf({ ...gradual, ...configuration }, servers))?.pause;
  assert.equal(pause({}), undefined);
  assert.equal(pause({ perpetual_storage_wiggle: 0 }), "perpetual_storage_wiggle is 0");
  assert.equal(pause({ storage_migration_type: "disabled" }), "storage_migration_type is disabled");
  const aggressive = { storage_migration_type: "aggressive", perpetual_storage_wiggle: 0 };
  assert.equal(pause(aggressive), undefined);
  assert.match(
    pause({ perpetual_storage_wiggle_locality: "zoneid:nowhere" }) ?? "",
    /locality is zoneid:nowhere, and none of them is there/,
  );
});

test("[MIG5] fault domains are counted in the region of a server, with and without it", () => {
  const servers = {
    a: { engine: "ssd-2", zone: "z1", datacenter: "dc1" },
    b: { engine: "ssd-2", zone: "z2", datacenter: "dc1" },
    c: { engine: "ssd-redwood-1", zone: "z2", datacenter: "dc1" },
    d: { engine: "ssd-redwood-1", zone: "z3", datacenter: "dc1", isExcluded: true },
    e: { engine: "ssd-redwood-1", zone: "z4", datacenter: "dc2" },
  };
  const counts = (configuration: StatusConfiguration) =>
    engineView(statusOf({ ...gradual, ...configuration }, servers))?.old.map(
      ({ region, domains, domainsWithout }) => [region, domains, domainsWithout],
    );
  const two = [
    ["dc1", 2, 1],
    ["dc1", 2, 2],
  ];
  assert.deepEqual(counts({ usable_regions: 2 }), two);
  const one = [
    ["", 3, 2],
    ["", 3, 3],
  ];
  assert.deepEqual(counts({ usable_regions: 1 }), one);
});

test("[MIG5] [API37] the servers of the largest resource are counted in a moment", () => {
  const servers: Record<string, Server> = {};
  for (let count = 0; count < 10_000; count += 1) {
    servers[`storage-${count}`] = { engine: "ssd-2", zone: `z${count % 2_000}` };
  }
  const status = statusOf(gradual, servers);
  const startedMs = process.cpuUsage().user / 1000;
  assert.deepEqual(engineView(status)?.old.at(-1)?.domains, 2_000);
  // To compare each with all others takes most of a minute.
  assert.ok(process.cpuUsage().user / 1000 - startedMs < 5_000);
});
