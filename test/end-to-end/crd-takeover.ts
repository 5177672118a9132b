// CRDs of the operator written in Go give way to ours while objects of theirs are stored. Without their CRDs (a folder in
// GO_OPERATOR_CRDS) a stand-in that stores everything takes their place. Rule: spec/deploy.md [DEP14].
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { applyManifests } from "./manifests.ts";
import type { EndToEnd } from "./scenario.ts";

const root = path.resolve(import.meta.dirname, "../..");

export async function takeOverDefinitions(world: EndToEnd): Promise<void> {
  const { client, say } = world;
  const folder = process.env["GO_OPERATOR_CRDS"];
  say(folder === undefined ? "with stand-ins for the CRDs of the Go operator" : "with real CRDs");
  await applyManifests(client, theirDefinitions(folder), "", "someone-else");
  const captured = capturedCluster();
  const { namespace = "" } = captured.metadata;
  await client.create(namespaces, objectNamed("v1", "Namespace", namespace));
  const stored = await world.eventually("their CRD is served", () => store(client, captured));
  const before = await client.get(foundationDbClusters, { namespace, name: stored });
  await applyManifests(client, customResourceDefinitions, "");
  await world.eventually("our schema is in force", async () => {
    const wrong = {
      ...objectNamed("apps.foundationdb.org/v1beta2", "FoundationDBCluster", "wrong"),
    };
    const bad = { ...wrong, metadata: { ...wrong.metadata, namespace }, spec: { version: 7 } };
    return client.create(foundationDbClusters, bad as never).then(
      async () => {
        await client.delete(foundationDbClusters, { namespace, name: "wrong" });
        return undefined;
      },
      (error: unknown) => /spec\.version/.test(String(error)) || undefined,
    );
  });
  const after = await client.get(foundationDbClusters, { namespace, name: stored });
  assert.deepEqual(after.spec, before.spec);
  assert.deepEqual(after.status, before.status);
  assert.equal(after.metadata.uid, before.metadata.uid);
  // An edit makes the server write the object anew under our schema: that, too, must lose nothing.
  const labels = { labels: { touched: "yes" } };
  const key = { namespace, name: stored };
  const edited = await client.patch(
    foundationDbClusters,
    key,
    { metadata: labels },
    { type: "merge" },
  );
  assert.deepEqual(withoutDefaults(edited.spec, before.spec), before.spec);
  assert.deepEqual(edited.status, before.status);
  await client.delete(namespaces, { name: namespace });
}

/** Only what was stored before: a schema may add defaults, but must not take away or change anything. */
function withoutDefaults(value: unknown, known: unknown): unknown {
  if (!isMap(value) || !isMap(known)) return value;
  const shared = Object.keys(value).filter((key) => key in known);
  return Object.fromEntries(shared.map((key) => [key, withoutDefaults(value[key], known[key])]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function store(
  client: KubeClient,
  captured: FoundationDBCluster,
): Promise<string | undefined> {
  const { resourceVersion: _, uid: __, ...metadata } = captured.metadata;
  const created = await client
    .create(foundationDbClusters, { ...captured, metadata, status: undefined } as never)
    .catch(() => undefined);
  if (created === undefined) return undefined;
  await client.updateStatus(foundationDbClusters, { ...created, status: captured.status });
  return created.metadata.name;
}

function capturedCluster(): FoundationDBCluster {
  const file = path.join(root, "test/data/go-operator/cluster.yaml");
  return parse(readFileSync(file, "utf8")) as FoundationDBCluster;
}

function theirDefinitions(folder: string | undefined): KubeObject[] {
  if (folder !== undefined) {
    return readdirSync(folder)
      .filter((file) => file.endsWith(".yaml"))
      .flatMap((file) => parseAllDocuments(readFileSync(path.join(folder, file), "utf8")))
      .map((document) => document.toJS() as KubeObject);
  }
  const everything = {
    openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  return customResourceDefinitions.map((definition) => ({
    ...definition,
    spec: {
      ...definition.spec,
      versions: definition.spec.versions.map((version) => ({
        ...version,
        additionalPrinterColumns: undefined,
        schema: everything,
      })),
    },
  }));
}

function objectNamed(apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { name } };
}
