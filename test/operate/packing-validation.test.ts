// Every mistake that packing can make of a spec is refused, with its field and the remedy, by the operator and by
// `fdb-operator validate`. Rules: spec/packing.md [PACK60]-[PACK68].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { validateDocument } from "../../src/api/validate-document.ts";
import { runCommand } from "../cli/run-command.ts";
import { exampleCluster, exampleText } from "../world/example.ts";

interface Mistake {
  readonly title: string;
  readonly change: Partial<ClusterSpec>;
  readonly field: string;
  /** Of message and remedy together. */
  readonly words: RegExp;
}

const packed = (desiredFaultDomains: number, required = false) => ({
  distributionConfig: { enabled: true, desiredFaultDomains, required },
});
const desired = "spec.distributionConfig.desiredFaultDomains";
const hallLocality = { key: "data_hall", topologyKey: "topology.kubernetes.io/zone" };
const halls = {
  databaseConfiguration: { redundancy_mode: "three_data_hall" },
  localities: [{ ...hallLocality, values: ["a", "b", "c"] }],
} as const;

const longHalls = {
  ...packed(3),
  databaseConfiguration: { redundancy_mode: "three_data_hall" },
  localities: [{ ...hallLocality, values: ["hall-number-one", "b", "c"] }],
  processCounts: { storage: 9, log: 9 },
} as Partial<ClusterSpec>;

const mistakes: readonly Mistake[] = [
  {
    title: "[PACK60] no domain at all",
    change: packed(0),
    field: desired,
    words: /greater than or equal to 1/,
  },
  {
    title: "[PACK60] fewer domains than double needs",
    change: packed(1),
    field: desired,
    words: /double needs at least 2 fault domains.*set it to 2 or more/,
  },
  {
    title: "[PACK60] fewer domains than triple needs",
    change: { ...packed(2), databaseConfiguration: { redundancy_mode: "triple" } },
    field: desired,
    words: /triple needs at least 3 fault domains.*set it to 3 or more/,
  },
  {
    title: "[PACK61] a single domain in each hall",
    change: { ...packed(1), ...halls } as Partial<ClusterSpec>,
    field: desired,
    words: /at least 2 fault domains in each hall.*set it to 2 or more/,
  },
  {
    title: "[PACK62] fewer storage process groups than required domains",
    change: { ...packed(7, true), processCounts: { storage: 6, log: 7 } },
    field: "spec.processCounts.storage",
    words: /storage has 6 process groups for 7 required.*ask for at least 7/,
  },
  {
    title: "[PACK62] fewer logs than required domains",
    change: { ...packed(4, true), processCounts: { storage: 6, log: 3 } },
    field: "spec.processCounts.log",
    words: /log has 3 process groups for 4 required.*at least 4 in processCounts.log/,
  },
  {
    title: "[PACK62] fewer transaction process groups than required domains",
    change: { ...packed(3, true), processCounts: { storage: 6, log: 3, transaction: 2 } },
    field: "spec.processCounts.transaction",
    words: /transaction has 2 process groups for 3 required/,
  },
  {
    title: "[PACK63] a name that is too long for a label",
    change: { ...longHalls, processGroupIDPrefix: "p".repeat(40) },
    field: "spec.processGroupIDPrefix",
    words: /more than 63 characters.*choose a shorter prefix/,
  },
  {
    title: "[PACK63] a hall that makes the name too long",
    change: {
      ...longHalls,
      localities: [{ ...hallLocality, values: ["h".repeat(60), "b", "c"] }],
    } as Partial<ClusterSpec>,
    field: "spec.localities",
    words: /more than 63 characters.*choose halls with shorter names/,
  },
  ...["foundationdb.org/none", "foundationdb.org/kubernetes-cluster"].map((key) => ({
    title: `[PACK64] the fault domain key ${key}`,
    change: { faultDomain: { key, value: "x", zoneCount: 3 } },
    field: "spec.faultDomain.key",
    words: /needs nodes as fault domains: choose another faultDomain.key/,
  })),
  {
    title: "[PACK65] a zone from a field or a variable of the pod",
    change: { faultDomain: { valueFrom: "$RACK" } },
    field: "spec.faultDomain.valueFrom",
    words: /names the zones itself: remove faultDomain.valueFrom/,
  },
  {
    title: "[PACK65] a zone locality by value",
    change: { localities: [{ key: "zone", value: "rack-1" }] },
    field: "spec.localities",
    words: /names the zones itself: a zone locality may only have a topologyKey/,
  },
  {
    title: "[PACK65] a zone locality by variable, under its other name",
    change: { localities: [{ key: "zoneid", envValue: "RACK" }] },
    field: "spec.localities",
    words: /names the zones itself/,
  },
  {
    title: "[PACK66] a custom parameter for the zone",
    change: { processes: { log: { customParameters: ["locality_zoneid=x"] } } },
    field: "spec.processes.log.customParameters[0]",
    words: /names the zones itself.*remove locality_zoneid/,
  },
  {
    title: "[PACK66] a variable for the zone",
    change: {
      processes: {
        general: {
          podTemplate: {
            spec: {
              containers: [{ name: "foundationdb", env: [{ name: "FDB_ZONE_ID", value: "x" }] }],
            },
          },
        },
      },
    },
    field: "spec.processes.general.podTemplate.spec.containers[0].env[0]",
    words: /names the zones itself.*remove FDB_ZONE_ID/,
  },
  {
    title: "[PACK67] too few zones for the coordinators",
    change: { ...packed(2), coordinatorSelection: [{ processClass: "storage" }] },
    field: desired,
    words: /coordinators need 3 zones, and there are only 2.*raise it, or allow more classes/,
  },
];

function withChange(change: Partial<ClusterSpec>) {
  const { spec, ...rest } = exampleCluster("bin-packing.yaml");
  return { ...rest, spec: { ...spec, ...change } };
}

for (const { title, change, field, words } of mistakes) {
  test(`${title} is refused`, () => {
    const errors = validateDocument(withChange(change) as never).filter(
      ({ severity }) => severity === "error",
    );
    assert.deepEqual(
      errors.map((error) => error.field),
      [field],
    );
    assert.match(`${errors[0]?.message} ${errors[0]?.remedy ?? ""}`, words);
    const unpacked = {
      ...change,
      distributionConfig: { ...change.distributionConfig, enabled: false },
    };
    const isAlone = field !== desired || change.distributionConfig?.desiredFaultDomains !== 0;
    const left = validateDocument(withChange(unpacked) as never);
    if (isAlone) assert.ok(left.every((each) => each.field !== field || each.severity !== "error"));
  });
}

test("[PACK68] `validate` tells every mistake with field and remedy, and takes the example (long)", async () => {
  const wrong = mistakes.map(({ change }, index) => {
    const cluster = withChange(change);
    return JSON.stringify({ ...cluster, metadata: { name: `wrong-${index}` } });
  });
  const text = [exampleText("bin-packing.yaml"), ...wrong].join("\n---\n");
  const result = await runCommand(["validate", "-f", "-"], text);
  assert.equal(result.code, 1);
  assert.match(result.stdout, /^.*FoundationDBCluster sample: valid\n/);
  const parts = result.stdout.split(/^.*FoundationDBCluster wrong-\d+:\n/m).slice(1);
  assert.equal(parts.length, mistakes.length);
  for (const [index, { title, field, words }] of mistakes.entries()) {
    assert.ok(parts[index]?.includes(`error: ${field}: `), `${title}: ${parts[index]}`);
    assert.match(parts[index] ?? "", words, title);
  }
});

test("[PACK61] two domains in each hall are allowed, with a warning", () => {
  const change = { ...packed(2), ...halls, processCounts: { storage: 9, log: 9 } };
  const findings = validateDocument(withChange(change as Partial<ClusterSpec>) as never);
  assert.deepEqual(
    findings.map(({ severity, field }) => [severity, field]),
    [["warning", desired]],
  );
  assert.match(findings[0]?.message ?? "", /a hall and one more zone cannot be lost/);
});
