// Our own three resource definitions, as an API server takes and applies them.
import assert from "node:assert/strict";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import { capability } from "./case.ts";
import { asList, at, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { established } from "./widget.ts";

const group = "apps.foundationdb.org";
const clusters = `${group}/v1beta2/foundationdbclusters`;
const bytesMax = 200_000;

/** Cases share the real server, so the definitions may be there already. */
async function install(target: Target): Promise<string> {
  for (const definition of customResourceDefinitions) {
    const response = await target.send(
      "POST",
      target.path("customresourcedefinitions"),
      definition,
    );
    assert.ok([201, 409].includes(response.status), JSON.stringify(response.body));
    await established(target, text(definition, "metadata.name"));
  }
  const path = target.path(clusters);
  await target.eventually("clusters are served", async () => {
    const response = await target.send("GET", path);
    return response.status === 200 ? true : undefined;
  });
  return path;
}

function cluster(spec: Json, extra: Json = {}): Json {
  return {
    apiVersion: `${group}/v1beta2`,
    kind: "FoundationDBCluster",
    metadata: { name: "a" },
    spec: { version: "7.3.43", ...spec },
    ...extra,
  };
}

export const ownResourceCases = capability("our own CRDs", [
  [
    "[KC50] they are accepted, established and structural",
    async (target) => {
      await install(target);
      for (const definition of customResourceDefinitions) {
        const name = text(definition, "metadata.name");
        const stored = await established(target, name);
        const conditions = asList(at(stored, "status.conditions")).map(
          (each) => `${text(each, "type")}=${text(each, "status")}`,
        );
        assert.deepEqual(new Set(conditions), new Set(["NamesAccepted=True", "Established=True"]));
      }
    },
  ],
  [
    "[KC50] the stored definition carries nothing that we did not send but names and defaults",
    async (target) => {
      await install(target);
      for (const definition of customResourceDefinitions) {
        const name = text(definition, "metadata.name");
        const stored = await target.get(target.path("customresourcedefinitions", name));
        const schema = "spec.versions.0.schema.openAPIV3Schema";
        assert.deepEqual(at(stored, schema), JSON.parse(JSON.stringify(at(definition, schema))));
      }
    },
  ],
  [
    "[KC50] each is small enough for the annotation of a client-side apply",
    async (target) => {
      await install(target);
      for (const definition of customResourceDefinitions) {
        const bytes = Buffer.byteLength(JSON.stringify(definition));
        assert.ok(bytes <= bytesMax, `${text(definition, "metadata.name")}: ${bytes} bytes`);
        const annotation = "kubectl.kubernetes.io/last-applied-configuration";
        const path = target.path("customresourcedefinitions", text(definition, "metadata.name"));
        const value = JSON.stringify(definition);
        const query = { dryRun: "All" };
        const patch = { metadata: { annotations: { [annotation]: value } } };
        await target.patch("merge", path, patch, query);
      }
    },
  ],
  [
    "[KC50] a cluster with three wrong fields is refused with three field paths, and not created",
    async (target) => {
      const path = await install(target);
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            // The server says that it did not look at its CEL rules; this is no fourth mistake.
            {
              field: "<nil>",
              reason: "FieldValueInvalid",
              message:
                "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
            },
            {
              field: "spec.databaseConfiguration.redundancy_mode",
              reason: "FieldValueNotSupported",
              message:
                'Unsupported value: "quadruple": supported values: "single", "double", "triple", "three_data_hall", "three_datacenter", "three_data_hall_fallback", "three_datacenter_fallback"',
            },
            {
              field: "spec.minimumUptimeSecondsForBounce",
              reason: "FieldValueInvalid",
              message:
                "Invalid value: 0: spec.minimumUptimeSecondsForBounce in body should be greater than or equal to 1",
            },
            {
              field: "spec.processCounts.storage",
              reason: "FieldValueTypeInvalid",
              message:
                'Invalid value: "string": spec.processCounts.storage in body must be of type integer: "string"',
            },
          ],
        },
        "POST",
        path,
        cluster({
          databaseConfiguration: { redundancy_mode: "quadruple" },
          minimumUptimeSecondsForBounce: 0,
          processCounts: { storage: "many" },
        }),
      );
      assert.deepEqual(await target.names(path), []);
    },
  ],
  [
    "[KC50] a cluster gets the defaults of its schema",
    async (target) => {
      const path = await install(target);
      const made = await target.create(path, cluster({ databaseConfiguration: {} }));
      assert.deepEqual(
        pick(
          made["spec"],
          "version",
          "imageType",
          "minimumUptimeSecondsForBounce",
          "databaseConfiguration.storage_engine",
        ),
        {
          version: "7.3.43",
          imageType: "unified",
          minimumUptimeSecondsForBounce: 600,
          "databaseConfiguration.storage_engine": "ssd-2",
        },
      );
    },
  ],
  [
    "[KC50] rules over several fields are judged by the server",
    async (target) => {
      const path = await install(target);
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec.databaseConfiguration.regions", reason: "FieldValueInvalid" },
            { field: "spec.processGroupIDPrefix", reason: "FieldValueInvalid" },
          ],
        },
        "POST",
        path,
        cluster({
          automationOptions: { synchronizationMode: "global" },
          databaseConfiguration: {
            redundancy_mode: "three_datacenter",
            regions: [{ datacenters: [{ id: "a" }] }],
          },
        }),
      );
    },
  ],
  [
    "[KC50] a version that is too old is refused",
    async (target) => {
      const path = await install(target);
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            {
              field: "spec.version",
              reason: "FieldValueInvalid",
              message: 'Invalid value: "6.3.24": FoundationDB before 7.1.0 is not supported',
            },
          ],
        },
        "POST",
        path,
        cluster({ version: "6.3.24" }),
      );
    },
  ],
  [
    "[KC50] status is a subresource and generation follows the spec",
    async (target) => {
      const path = await install(target);
      await target.create(path, cluster({}));
      const health = { available: true };
      const changed = await target.patch("merge", `${path}/a/status`, { status: { health } });
      assert.deepEqual(pick(changed, "status.health.available", "metadata.generation"), {
        "status.health.available": true,
        "metadata.generation": 1,
      });
      const updated = await target.patch("merge", `${path}/a`, {
        spec: { processCounts: { storage: 5 } },
      });
      assert.equal(at(updated, "metadata.generation"), 2);
    },
  ],
  [
    "[KC50] a table of clusters has the columns people know",
    async (target) => {
      const path = await install(target);
      await target.create(path, cluster({}));
      await target.patch("merge", `${path}/a/status`, {
        status: {
          generations: { reconciled: 1 },
          health: { available: true, fullReplication: true },
        },
      });
      const table = await target.table(path);
      const columns = asList(table["columnDefinitions"]).map((column) => at(column, "name"));
      const cells = asList(at(table, "rows.0.cells"));
      const row = Object.fromEntries(columns.map((name, index) => [String(name), cells[index]]));
      assert.deepEqual(
        pick(row, "Name", "Generation", "Reconciled", "Available", "FullReplication"),
        {
          Name: "a",
          Generation: 1,
          Reconciled: 1,
          Available: true,
          FullReplication: true,
        },
      );
    },
  ],
  [
    "[KC50] short names are served",
    async (target) => {
      await install(target);
      const list = await target.eventually("the group in discovery", async () => {
        const response = await target.send("GET", `/apis/${group}/v1beta2`);
        return response.status === 200 ? response.body : undefined;
      });
      const names = asList(at(list, "resources")).flatMap((each) => asList(at(each, "shortNames")));
      assert.deepEqual(new Set(names), new Set(["fdb", "fdbbackup", "fdbrestore"]));
    },
  ],
]);
