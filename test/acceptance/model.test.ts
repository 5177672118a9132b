// Checklist: counts, configurations, connection strings, addresses, staging and versions.
import { strict as assert } from "node:assert";
import { imageFor } from "../../src/build/images.ts";
import {
  addressesInCommandLine,
  addressesOf,
  formatAddress,
  parseAddress,
  processPort,
} from "../../src/model/address.ts";
import { nextConfiguration } from "../../src/model/configuration-staging.ts";
import { configureArguments } from "../../src/model/configure-command.ts";
import {
  coordinatorsOf,
  formatConnectionString,
  generationIdLength,
  parseConnectionString,
} from "../../src/model/connection-string.ts";
import {
  desiredConfiguration,
  isSameConfiguration,
  mainDataCenterOf,
  normalConfiguration,
  normalRegions,
  roleCountsOf,
} from "../../src/model/database-configuration.ts";
import type { DatabaseConfiguration, Region } from "../../src/model/database-configuration.ts";
import { kubernetesClusterKey } from "../../src/model/fault-domain.ts";
import { desiredProcessCounts, totalProcessCount } from "../../src/model/process-counts.ts";
import type { CountInput } from "../../src/model/process-counts.ts";
import { redundancyOf } from "../../src/model/redundancy.ts";
import {
  compareVersions,
  hasLocalityExclusions,
  hasTesterCleanup,
  isProtocolCompatible,
  isVersionChangeAllowed,
  parseVersion,
} from "../../src/model/version.ts";
import type { Version } from "../../src/model/version.ts";
import { parameterProblems, serverParameterOwners } from "../../src/api/validate-parameters.ts";
import { PlanWorld } from "../operate/plan-world.ts";
import { item, table } from "./checklist-case.ts";

const proxies = (wanted: DatabaseConfiguration): number[] => {
  const counts = roleCountsOf(wanted);
  return [counts.proxies, counts.grv_proxies, counts.commit_proxies];
};
item("E01.1", () => {
  assert.deepEqual(proxies({}), [3, 0, 0]);
  assert.deepEqual(proxies({ proxies: 5 }), [5, 0, 0]);
});
item("E01.2", () => {
  assert.deepEqual(proxies({ grv_proxies: 2, commit_proxies: 4 }), [0, 2, 4]);
  assert.deepEqual(proxies({ grv_proxies: 4, proxies: 9 }), [0, 4, 2]);
  assert.deepEqual(proxies({ commit_proxies: 4 }), [0, 1, 4]);
});
const counts = (input: CountInput): (number | undefined)[] => {
  const { storage, log, stateless } = desiredProcessCounts(input);
  return [storage, log, stateless];
};
item("E01.3", () => {
  assert.deepEqual(counts({}), [3, 4, 9]);
  assert.deepEqual(counts({ processCounts: { storage: 7, log: 2 } }), [7, 2, 9]);
});
item("E01.4", () => {
  const at = (zoneIndex: number) => ({ key: kubernetesClusterKey, zoneIndex, zoneCount: 3 });
  assert.deepEqual(counts({ faultDomain: at(0) }), [1, 2, 3]);
  assert.deepEqual(counts({ faultDomain: at(2) }), [1, 1, 3]);
});
const satellites: Region[] = [
  {
    datacenters: [
      { id: "a", priority: 1 },
      { id: "s", satellite: 1 },
    ],
    satellite_logs: 3,
  },
  { datacenters: [{ id: "b" }, { id: "s", satellite: 1 }], satellite_logs: 3 },
];
item("E01.5", () => {
  const databaseConfiguration = { usable_regions: 2, regions: satellites };
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "s" }), [undefined, 4, undefined]);
  assert.deepEqual(counts({ databaseConfiguration, dataCenter: "a" }), [3, 4, 9]);
});
item("E01.6", () => {
  const databaseConfiguration = { redundancy_mode: "three_data_hall" };
  assert.deepEqual(counts({ databaseConfiguration }), [5, 6, 10]);
});
item("E01.7", () => {
  const wanted = desiredProcessCounts({ processCounts: { storage: 3, log: 3, stateless: -1 } });
  assert.equal(totalProcessCount(wanted), 6);
});
item("E01.8", () => {
  const modes = ["single", "double", "triple", "three_data_hall"];
  assert.deepEqual(
    modes.map((mode) => redundancyOf(mode).faultTolerance),
    [0, 1, 2, 2],
  );
});
item("E01.9", () => {
  const { redundancy_mode, storage_engine, usable_regions, logs } = desiredConfiguration({});
  assert.deepEqual(
    [redundancy_mode, storage_engine, usable_regions, logs],
    ["double", "ssd-2", 1, 3],
  );
});
item("E01.10", () => {
  const wanted = {
    storage_migration_type: "gradual",
    perpetual_storage_wiggle: 1,
    perpetual_storage_wiggle_locality: "a:b",
  };
  const found = desiredConfiguration(wanted);
  assert.deepEqual({ ...found, ...wanted }, found);
  assert.equal(desiredConfiguration({}).storage_migration_type, undefined);
});
const configure = (wanted: DatabaseConfiguration): string => {
  const result = configureArguments(desiredConfiguration(wanted));
  assert.ok(result.ok);
  return result.value;
};
item("E01.11", () => {
  assert.equal(
    configure({ redundancy_mode: "triple" }),
    "triple ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 proxies=3 regions=[]",
  );
});
const region = (id: string, priority: number): Region => ({ datacenters: [{ id, priority }] });
item("E01.12", () => {
  const text = configure({ usable_regions: 2, regions: [region("a", 1), region("b", 0)] });
  assert.ok(text.includes("usable_regions=2"));
  assert.ok(text.includes(String.raw`[{\"datacenters\":[{\"id\":\"a\",\"priority\":1}]}`), text);
});
item("E01.13", () => {
  const text = configure({ usable_regions: 2, regions: [region("a", 0), region("b", 1)] });
  assert.ok(text.indexOf(String.raw`\"b\"`) < text.indexOf(String.raw`\"a\"`), text);
});

table(
  {
    "E02.1": ["a:b@1.1.1.1:4501,1.1.1.2:4501", true],
    "E02.2": [":b@1.1.1.1:4501", false],
    "E02.3": ["a:@1.1.1.1:4501", false],
    "E02.4": ["a:b", false],
    "E02.5": ["a-b:c@1.1.1.1:4501", false],
    "E02.6": ["a:b_c@1.1.1.1:4501", false],
    "E02.7": ["a:b@1.1.1.1:port", false],
    "E02.8": ["a:b@[::1]:4501", true],
    "E02.9": ["a:b@1.1.1.1:4500:tls", true],
    "E02.10": ["a:b@pod.svc.cluster.local:4501", true],
  },
  (text: string, isValid: boolean) => {
    const parsed = parseConnectionString(text);
    assert.equal(parsed.ok, isValid);
    if (parsed.ok) assert.equal(formatConnectionString(parsed.value), text);
  },
);
item("E02.11", () => {
  const connection = { description: "a", generationId: "b", coordinators: ["h:1", "i:2"] };
  assert.equal(formatConnectionString(connection), "a:b@h:1,i:2");
});
item("E02.12", () => {
  const world = new PlanWorld({ databaseConfiguration: { redundancy_mode: "single" } });
  world.settle(3);
  const parsed = parseConnectionString(world.cluster.status?.connectionString ?? "");
  assert.ok(parsed.ok);
  assert.equal(parsed.value.generationId.length, generationIdLength);
});
item("E02.13", () => {
  const [left, right] = [coordinatorsOf("a:b@h:1,i:2"), coordinatorsOf("x:y@i:2,h:1")];
  assert.deepEqual(left.toSorted(), right.toSorted());
});
const address = (text: string) => {
  const parsed = parseAddress(text);
  return parsed.ok ? [parsed.value.host, parsed.value.port, ...parsed.value.flags] : parsed.error;
};
item("E02.14", () => {
  assert.deepEqual(address("1.1.1.1:4500:tls"), ["1.1.1.1", 4500, "tls"]);
  assert.deepEqual(address("[::1]:4501"), ["::1", 4501]);
  assert.deepEqual(address("1.1.1.1"), ["1.1.1.1", 0]);
  assert.deepEqual(address("pod.svc:4501"), ["pod.svc", 4501]);
  assert.equal(typeof address("1.1.1.1:bad"), "string");
});
item("E02.15", () => {
  const texts = ["1.1.1.1:4500:tls", "[::1]:4501", "1.1.1.1", "1.1.1.1:4500:tls(fromHostname)"];
  for (const text of texts) {
    const parsed = parseAddress(text);
    assert.ok(parsed.ok);
    assert.equal(formatAddress(parsed.value), text);
  }
});
item("E02.16", () => {
  assert.deepEqual(
    [processPort(1, true), processPort(1, false), processPort(3, false)],
    [4500, 4501, 4505],
  );
  const both = addressesOf("1.1.1.1", 2, { tls: true, nonTLS: true }).map(formatAddress);
  assert.deepEqual(both, ["1.1.1.1:4502:tls", "1.1.1.1:4503"]);
});
item("E02.17", () => {
  const found = addressesInCommandLine("fdbserver --public_address=[::1]:4500:tls,[::1]:4501 -x");
  assert.ok(found.ok);
  assert.deepEqual(found.value.map(formatAddress), ["[::1]:4500:tls", "[::1]:4501"]);
});

const configuration = (usable_regions: number, ...regions: Region[]): DatabaseConfiguration => {
  const whole = {
    redundancy_mode: "double",
    usable_regions,
    ...(regions.length > 0 ? { regions } : {}),
  };
  return normalConfiguration(whole, whole);
};
const way = (start: DatabaseConfiguration, final: DatabaseConfiguration): string[] => {
  const steps: string[] = [];
  let current = start;
  while (!isSameConfiguration(current, final) && steps.length < 20) {
    current = normalConfiguration(nextConfiguration(current, final), final);
    const mains = (current.regions ?? []).map((one) => mainDataCenterOf(one));
    steps.push(
      [current.usable_regions, ...mains.map((m) => `${m?.id}:${m?.priority ?? 0}`)].join(" "),
    );
  }
  return steps;
};
const [one, two] = [
  configuration(1, region("a", 1)),
  configuration(2, region("a", 1), region("b", 0)),
];
item("E03.1", () => assert.deepEqual(way(one, two), ["1 a:1 b:-1", "2 a:1 b:-1", "2 a:1 b:0"]));
item("E03.2", () => assert.deepEqual(way(two, one), ["2 a:1 b:-1", "1 a:1 b:-1", "1 a:1"]));
item("E03.3", () => {
  assert.deepEqual(way(configuration(1), two), ["1 a:1 b:-1", "2 a:1 b:-1", "2 a:1 b:0"]);
});
item("E03.4", () => {
  const switched = configuration(2, region("a", 0), region("b", 1));
  assert.deepEqual(way(two, switched), ["2 b:1 a:0"]);
});
item("E03.5", () => {
  const steps = way(two, configuration(2, region("c", 1), region("d", 0)));
  assert.equal(steps.at(-1), "2 c:1 d:0");
  for (const step of steps) assert.ok(step.split(" ").length <= 3, step);
});
item("E03.6", () => {
  const regions = normalRegions([
    { datacenters: [{ id: "s", satellite: 1 }, { id: "b" }] },
    { datacenters: [{ id: "a", priority: 1 }] },
  ]);
  assert.deepEqual(
    regions.map((each) => each.datacenters?.map((center) => center.id)),
    [["a"], ["b", "s"]],
  );
});

const version = (text: string): Version => {
  const found = parseVersion(text);
  assert.ok(found);
  return found;
};
item("E06.1", () => {
  assert.ok(isProtocolCompatible(version("7.3.1"), version("7.3.63")));
  assert.ok(!isProtocolCompatible(version("7.3.1"), version("7.4.1")));
  assert.ok(!isProtocolCompatible(version("7.3.1"), version("7.3.1-rc1")));
});
item("E06.2", () => {
  const sorted = ["7.3.2", "7.1.57", "7.3.0-rc1", "7.3.0"].map(version).toSorted(compareVersions);
  assert.deepEqual(
    sorted.map((each) => [each.minor, each.patch, each.releaseCandidate]),
    [
      [1, 57, 0],
      [3, 0, 1],
      [3, 0, 0],
      [3, 2, 0],
    ],
  );
});
item("E06.3", () => {
  assert.ok(isVersionChangeAllowed(version("7.3.63"), version("7.3.1")));
  assert.ok(isVersionChangeAllowed(version("7.1.1"), version("7.3.1")));
  assert.ok(!isVersionChangeAllowed(version("7.3.1"), version("7.1.63")));
});
item("E06.4", () => {
  const texts = ["7.1.41", "7.1.42", "7.2.0", "7.3.25", "7.3.26", "7.4.0"];
  assert.deepEqual(
    texts.map((text) => hasLocalityExclusions(version(text))),
    [false, true, false, false, true, true],
  );
});
item("E06.5", () => {
  const texts = ["7.1.54", "7.1.55", "7.3.34", "7.3.35"];
  assert.deepEqual(
    texts.map((text) => hasTesterCleanup(version(text))),
    [false, true, false, true],
  );
});
item("E06.6", () => {
  const configs = [{ version: "7.1.1", tag: "no" }, { tagSuffix: "-x" }, { baseImage: "b" }];
  const image = imageFor(undefined, configs, "7.3.63");
  assert.ok(image.ok && image.value === "b:7.3.63-x");
});
item("E06.7", () => {
  const problems = (...list: string[]): string[] =>
    parameterProblems(list, "p", serverParameterOwners).map((each) => each.field);
  assert.deepEqual(problems("knob_a=1", "knob_b=2"), []);
  assert.deepEqual(problems("knob_a", "knob_b=1", "knob-b=2", "datadir=/x"), [
    "p[0]",
    "p[2]",
    "p[3]",
  ]);
});

item("D01.1", () => {
  const text = "sample:abc@10.0.0.1:4501,10.0.0.2:4501";
  const read = parseConnectionString(` ${text}\n`);
  assert.ok(read.ok);
  assert.equal(formatConnectionString(read.value), text);
  const plan = new PlanWorld({ seedConnectionString: `\t${text}\n` }).plan();
  assert.equal(plan.status.connectionString, text);
});
