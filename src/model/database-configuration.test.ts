// Database configurations: defaults, comparison and the arguments of configure.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { configureArguments } from "./configure-command.ts";
import {
  desiredConfiguration,
  isSameConfiguration,
  liveConfiguration,
  normalRegions,
  primaryDataCenterOf,
  roleCountsOf,
} from "./database-configuration.ts";
import type { DatabaseConfiguration } from "./database-configuration.ts";

function configure(wanted: DatabaseConfiguration): string {
  const result = configureArguments(desiredConfiguration(wanted));
  return result.ok ? result.value : result.error;
}

test("[M32] an empty configuration means double, ssd-2 and one region", () => {
  assert.deepEqual(desiredConfiguration({}), {
    redundancy_mode: "double",
    storage_engine: "ssd-2",
    usable_regions: 1,
    logs: 3,
    proxies: 3,
    resolvers: 1,
    log_routers: -1,
    remote_logs: -1,
  });
});

test("[M33] role counts follow mode and regions", () => {
  assert.equal(roleCountsOf({ redundancy_mode: "triple" }).storage, 5);
  assert.equal(roleCountsOf({ redundancy_mode: "three_datacenter" }).storage, 6);
  assert.equal(roleCountsOf({ redundancy_mode: "three_datacenter_fallback" }).storage, 6);
  assert.equal(roleCountsOf({ redundancy_mode: "three_data_hall" }).logs, 4);
  const regions = roleCountsOf({ usable_regions: 2, logs: 7 });
  assert.deepEqual([regions.remote_logs, regions.log_routers], [7, 7]);
});

test("[M34] separated proxies drop the plain ones and complete each other", () => {
  const proxies = (wanted: DatabaseConfiguration): number[] => {
    const counts = roleCountsOf(wanted);
    return [counts.proxies, counts.grv_proxies, counts.commit_proxies];
  };
  assert.deepEqual(proxies({ grv_proxies: 4, proxies: 9 }), [0, 4, 2]);
  assert.deepEqual(proxies({ commit_proxies: 4 }), [0, 1, 4]);
  assert.deepEqual(proxies({ proxies: 9 }), [9, 0, 0]);
  assert.deepEqual(proxies({}), [3, 0, 0]);
});

test("[M35] regions and datacenters have one order", () => {
  const regions = normalRegions([
    { datacenters: [{ id: "s", satellite: 1, priority: 5 }, { id: "b" }], satellite_logs: 0 },
    { datacenters: [{ id: "a", priority: 1 }] },
  ]);
  assert.deepEqual(regions, [
    { datacenters: [{ id: "a", priority: 1 }] },
    { datacenters: [{ id: "b" }, { id: "s", priority: 5, satellite: 1 }] },
  ]);
  assert.equal(primaryDataCenterOf({ regions }), "a");
  assert.equal(primaryDataCenterOf({}), "");
});

test("[M36] what the resource leaves unset is not compared", () => {
  const live = {
    ...desiredConfiguration({}),
    commit_proxies: 2,
    grv_proxies: 1,
    log_spill: 2,
    perpetual_storage_wiggle: 0,
    storage_migration_type: "disabled",
    excluded_servers: [{ address: "1.1.1.1" }],
  };
  assert.ok(isSameConfiguration(liveConfiguration(live, {}), desiredConfiguration({})));
  const wanted = { perpetual_storage_wiggle: 1 };
  assert.ok(!isSameConfiguration(liveConfiguration(live, wanted), desiredConfiguration(wanted)));
  const flagged = { log_spill: 1 };
  assert.ok(!isSameConfiguration(liveConfiguration(live, flagged), desiredConfiguration(flagged)));
});

test("[M37] short engine names mean their second version and storage is no setting", () => {
  assert.equal(desiredConfiguration({ storage_engine: "ssd" }).storage_engine, "ssd-2");
  assert.equal(desiredConfiguration({ storage_engine: "memory" }).storage_engine, "memory-2");
  assert.equal(desiredConfiguration({ storage: 9 }).storage, undefined);
  assert.equal(liveConfiguration({ storage: 9 }, {}).storage, undefined);
});

test("[M38] configure names everything that is set", () => {
  assert.equal(
    configure({}),
    "double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]",
  );
  const text = configure({
    grv_proxies: 1,
    log_spill: 2,
    log_version: 4,
    perpetual_storage_wiggle: 0,
    perpetual_storage_wiggle_locality: "0",
    regions: [{ datacenters: [{ id: "a=b", priority: 1 }] }],
  });
  assert.match(text, / commit_proxies=2 grv_proxies=1 log_spill:=2 log_version:=4 regions=/);
  assert.ok(text.includes(String.raw`[{\"datacenters\":[{\"id\":\"a\u003Db\",\"priority\":1}]}]`));
  assert.ok(text.endsWith(" perpetual_storage_wiggle=0 perpetual_storage_wiggle_locality=0"));
});

test("[M39] a text that could start another command is refused", () => {
  for (const letter of [";", "\n", "\r"]) {
    const wanted = { perpetual_storage_wiggle_locality: `a:b${letter}kill` };
    assert.ok(!configureArguments(desiredConfiguration(wanted)).ok);
  }
});
