// Every mistake about localities and halls, as `fdb-operator validate` tells it: the field, what is wrong, and what to do.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { runCommand } from "./run-command.ts";

const zoneLabel = "topology.kubernetes.io/zone";
const hall = { key: "data_hall", topologyKey: zoneLabel };
const mode = (redundancy_mode: string) => ({ databaseConfiguration: { redundancy_mode } });

const mistakes: readonly (readonly [name: string, spec: object, answer: RegExp])[] = [
  [
    "no source",
    { localities: [{ key: "rack" }] },
    /spec\.localities\[0\].*one of value, envValue and topologyKey must be set/,
  ],
  [
    "empty sources",
    { localities: [{ key: "rack", value: "", envValue: "", topologyKey: "" }] },
    /spec\.localities\[0\].*one of value, envValue and topologyKey must be set/,
  ],
  [
    "a key of the operator",
    { localities: [{ key: "machineid", value: "x" }] },
    /spec\.localities\[0\]\.key.*instance_id, machineid, process_id, dns_name are set by the operator/,
  ],
  ["the same key twice", { localities: [hall, hall] }, /spec\.localities\[1\].*[Dd]uplicate/],
  [
    "two names of the zone",
    {
      localities: [
        { key: "zone", value: "a" },
        { key: "zoneid", value: "a" },
      ],
    },
    /spec\.localities.*zone and zoneid name the same locality/,
  ],
  [
    "two names of the datacenter",
    {
      localities: [
        { key: "dcid", value: "a" },
        { key: "datacenter", value: "a" },
      ],
    },
    /spec\.localities.*dcid and datacenter name the same locality/,
  ],
  [
    "dataCenter and localities",
    { dataCenter: "dc2", localities: [{ key: "dcid", value: "dc1" }] },
    /spec\.dataCenter.*dcid is also given by spec\.localities\[0\].*remove spec\.dataCenter or spec\.localities\[0\]/,
  ],
  [
    "dataHall and localities",
    { dataHall: "a", localities: [hall] },
    /spec\.dataHall.*data_hall is also given by spec\.localities\[0\].*make them equal/,
  ],
  [
    "faultDomain and localities",
    { faultDomain: { key: "rack" }, localities: [{ key: "zone", topologyKey: "row" }] },
    /spec\.faultDomain\.key.*zoneid is also given by spec\.localities\[0\]/,
  ],
  [
    "a custom parameter and dataHall",
    { dataHall: "a", processes: { log: { customParameters: ["locality_data_hall=b"] } } },
    /spec\.processes\.log\.customParameters\[0\].*data_hall is also given by spec\.dataHall/,
  ],
  [
    "node labels with the split image",
    { imageType: "split", localities: [hall] },
    /spec\.localities\[0\]\.topologyKey.*split image cannot read labels of nodes.*set imageType to unified/,
  ],
  [
    "two halls for three",
    { ...mode("three_data_hall"), localities: [{ ...hall, values: ["a", "b"] }] },
    /spec\.localities\[0\]\.values.*three_data_hall needs exactly three values.*name three values/,
  ],
  [
    "four datacenters for three",
    {
      ...mode("three_datacenter"),
      localities: [{ key: "dcid", topologyKey: zoneLabel, values: ["a", "b", "c", "d"] }],
    },
    /spec\.localities\[0\]\.values.*three_datacenter needs exactly three values of dcid, not 4/,
  ],
  [
    "values without nodes",
    { localities: [{ key: "rack", value: "r", values: ["r"] }] },
    /spec\.localities\[0\]\.values.*the value does not come from nodes.*set only topologyKey/,
  ],
  [
    "three_datacenter with regions",
    {
      databaseConfiguration: {
        redundancy_mode: "three_datacenter",
        regions: [{ datacenters: [{ id: "dc1", priority: 1 }] }],
      },
      localities: [{ key: "dcid", topologyKey: zoneLabel }],
    },
    /spec\.databaseConfiguration\.regions.*three_datacenter cannot be combined with regions/,
  ],
];

test("[HALL26] every mistake is refused with its field, the reason and a remedy", async () => {
  const documents = mistakes.map(([, spec], index) => ({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: `mistake-${index}` },
    spec: { version: "7.3.63", ...spec },
  }));
  const text = documents.map((document) => JSON.stringify(document)).join("\n---\n");
  const result = await runCommand(["validate", "-o", "json", "-f", "-"], text);
  assert.equal(result.code, 1);
  const reports = JSON.parse(result.stdout) as { name: string; findings: unknown[] }[];
  for (const [index, [name, , answer]] of mistakes.entries()) {
    const report = reports.find((each) => each.name === `mistake-${index}`);
    assert.match(JSON.stringify(report?.findings ?? []), answer, name);
  }
});
