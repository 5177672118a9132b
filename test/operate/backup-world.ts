// A world with one small cluster and an object store, for tests that let the operator die.
import { secrets } from "../../src/kube/resource.ts";
import type { RequestRecord } from "../../src/kube/client.ts";
import { FullWorld, smallPods } from "./full-world.ts";

export async function openBackupWorld(seed: number): Promise<FullWorld> {
  const world = await FullWorld.open({
    seed,
    spec: {
      databaseConfiguration: { redundancy_mode: "single" },
      processCounts: { storage: 1, log: 1, stateless: 1 },
      processes: smallPods,
    },
  });
  const accounts = { accounts: { "KEY@store.example.com": { secret: "SECRET" } } };
  await world.client.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "store", namespace: "default" },
    data: { "blob.json": Buffer.from(JSON.stringify(accounts)).toString("base64") },
  });
  world.fdb.objectStores.add("store.example.com:443", {
    accounts: { KEY: "SECRET" },
    buckets: ["backups"],
  });
  return world;
}

/** Each pod once: a write that did not reach the server, or whose answer was lost, is made again under the same name. */
export function commandsIn(requests: readonly RequestRecord[], resource: string): string[] {
  const names = requests
    .filter(({ verb, resource: { plural } }) => verb === "create" && plural === "pods")
    .map(({ name = "" }) => name);
  const pattern = new RegExp(`^${resource}-([a-z]+)-[0-9a-f]{10}-\\d+$`);
  return [...new Set(names)].flatMap((name) => pattern.exec(name)?.[1] ?? []);
}
