// The objects that the operator really makes, given to a server: it must take them as they are, and two
// servers must store the same.
import assert from "node:assert/strict";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { renderCluster } from "../../src/cli/render.ts";
import { capability } from "./case.ts";
import type { ContractCase } from "./case.ts";
import type { MakeTarget } from "./run-cases.ts";
import type { Json, Target } from "./target.ts";
import { at, jsonOf, normal, text } from "./target.ts";

type ClusterSpec = FoundationDBCluster["spec"];

const resources = {
  requests: { cpu: "250m", memory: "128Mi" },
  limits: { cpu: "1", memory: "1Gi" },
};

const builtSamples: Readonly<Record<string, ClusterSpec>> = {
  "the simplest cluster": { version: "7.3.43" },
  "split images with service addresses": {
    version: "7.1.57",
    imageType: "split",
    routing: { publicIPSource: "service", headlessService: true },
    storageServersPerPod: 2,
  },
  "templates and parameters of a user": {
    version: "7.3.43",
    databaseConfiguration: { redundancy_mode: "triple", storage_engine: "ssd-rocksdb-v1" },
    processes: {
      general: {
        customParameters: ["knob_disable_posix_kernel_aio=1"],
        podTemplate: {
          metadata: { annotations: { team: "storage" } },
          spec: {
            tolerations: [{ key: "dedicated", operator: "Exists" }],
            containers: [{ name: "foundationdb", resources }],
          },
        },
        volumeClaimTemplate: {
          metadata: { labels: { tier: "data" } },
          spec: { storageClassName: "fast", resources: { requests: { storage: "16G" } } },
        },
      },
    },
  },
  "logical fault domains": {
    version: "7.3.43",
    databaseConfiguration: { redundancy_mode: "triple" },
    processCounts: { storage: 6, log: 3, transaction: 3, coordinator: 3, stateless: 3 },
    processGroupIDPrefix: "dc1",
    distributionConfig: { enabled: true, desiredFaultDomains: 3, required: true },
  },
  "three halls chosen by the operator": {
    version: "7.3.43",
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    localities: [
      { key: "data_hall", topologyKey: "topology.kubernetes.io/zone", values: ["a", "b", "c"] },
    ],
    processCounts: { storage: 3, log: 3, stateless: 3 },
  },
  "one hall of three": {
    version: "7.3.43",
    databaseConfiguration: { redundancy_mode: "three_data_hall" },
    processGroupIDPrefix: "hall-a",
    dataHall: "a",
    faultDomain: { key: "foundationdb.org/none" },
  },
};

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  PersistentVolumeClaim: "persistentvolumeclaims",
  Pod: "pods",
  Service: "services",
};

/** Cases for a real server that compare what it stores with what the emulator stores. */
export function builtComparisons(makeEmulated: MakeTarget): ContractCase[] {
  const cases: ContractCase[] = [];
  for (const [name, spec] of Object.entries(builtSamples)) {
    const contractCase: ContractCase = {
      capability: "objects of the operator, compared",
      title: `[KC62] ${name}: both servers store the same`,
      needs: "controller-manager",
      run: async (target) => {
        const emulated = await makeEmulated(cases.indexOf(contractCase), contractCase);
        try {
          const forms = await storedForms(emulated, spec);
          assert.deepEqual(forms, await storedForms(target, spec));
        } finally {
          await emulated.end();
        }
      },
    };
    cases.push(contractCase);
  }
  return cases;
}

/** What the server would store for each object of the cluster, without storing it. */
async function storedForms(target: Target, spec: ClusterSpec): Promise<unknown[]> {
  const forms: unknown[] = [];
  for (const { sent, stored } of await offered(target, spec)) {
    const address = at(stored, "spec.clusterIP");
    const plain = JSON.stringify(stored)
      .replaceAll(`"${String(address)}"`, address === "None" ? '"None"' : '"ADDRESS"')
      .replaceAll(target.namespace, "NAMESPACE");
    const form = jsonOf(JSON.parse(plain));
    const managed = at(form, "metadata.managedFields.0.fieldsV1");
    forms.push({ kind: sent["kind"], form: normal(form), managed });
  }
  return forms;
}

async function offered(target: Target, spec: ClusterSpec): Promise<{ sent: Json; stored: Json }[]> {
  const resource: FoundationDBCluster = {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample", namespace: "somewhere" },
    spec,
  };
  const pairs: { sent: Json; stored: Json }[] = [];
  for (const object of renderCluster(resource, { seed: 1, namespace: "somewhere" })) {
    const sent = jsonOf(JSON.parse(JSON.stringify(object)));
    // Hashes and DNS names carry the namespace, so the objects are made for one and sent to another.
    jsonOf(sent["metadata"])["namespace"] = target.namespace;
    // The token's volume of a real server has a random name.
    if (sent["kind"] === "Pod") jsonOf(sent["spec"])["automountServiceAccountToken"] = false;
    const path = target.path(plurals[text(sent, "kind")] ?? "");
    const query = { dryRun: "All", fieldValidation: "Strict" };
    pairs.push({ sent, stored: await target.create(path, sent, query) });
  }
  return pairs;
}

/** Everything that was sent must be in what is stored; the server may add. */
function assertKept(sent: unknown, stored: unknown, path: string): void {
  if (Array.isArray(sent)) {
    assert.ok(Array.isArray(stored) && stored.length >= sent.length, path);
    sent.forEach((item, index) => assertKept(item, stored[index], `${path}[${index}]`));
  } else if (typeof sent === "object" && sent !== null) {
    for (const [key, value] of Object.entries(sent)) {
      assertKept(value, at(stored, `"${key}"`), `${path}.${key}`);
    }
  } else {
    // An empty text means the same as none, and is not kept.
    assert.deepEqual(sent === "" ? (stored ?? "") : stored, sent, path);
  }
}

export const builtObjectCases = capability(
  "objects of the operator",
  Object.entries(builtSamples).map(([name, spec]) => [
    `[KC62] ${name}: every object is taken strictly and kept as it was sent`,
    async (target: Target) => {
      const pairs = await offered(target, spec);
      assert.ok(pairs.some(({ sent }) => sent["kind"] === "Pod"));
      for (const { sent, stored } of pairs) assertKept(sent, stored, text(sent, "metadata.name"));
    },
  ]),
  "controller-manager",
);
