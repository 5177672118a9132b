// Carries out one stage of an example on the emulated API servers, as a person with kubectl would. `$SEED` in a file is the
// connection string of the first Kubernetes cluster. Rules: spec/multi.md [MU10].
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { foundationDbBackups } from "../api/backup.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Stored } from "../kube/resource.ts";
import type { World } from "../sim/world.ts";
import { createResources } from "./create-resources.ts";
import { readDocuments } from "./documents.ts";
import {
  beginDrill,
  tellCopy,
  tellDrill,
  toTimeBeforeLoss,
  writeAndLose,
} from "./example-story.ts";
import type { Telling } from "./example-story.ts";
import type { ExampleStage } from "./examples.ts";

type Site = Pick<World, "name" | "client" | "transport">;

const folder = join(import.meta.dirname, "..", "..", "examples");
const patchEnding = ".patch.yaml";

/** Gives what a person would note of it. Without `telling` only the files of the stage are taken. */
export async function takeStage(
  stage: ExampleStage,
  sites: readonly Site[],
  telling?: Telling,
): Promise<string[]> {
  if (stage.story === "loss" && telling !== undefined) return writeAndLose(telling);
  for (const { site: name, file } of stage.steps) {
    const site = sites.find((one) => one.name === name);
    if (site === undefined) throw new Error(`there is no Kubernetes cluster ${name}`);
    const path = join(folder, file);
    if (file.endsWith(patchEnding)) {
      await patchCluster(site, path);
    } else {
      const [first = site] = sites;
      const seed = (await clusterOf(first))?.status?.connectionString ?? "";
      const fill = (text: string): string => text.replaceAll("$SEED", seed);
      const documents = await readDocuments(path, fill);
      const drills = documents.find(({ object }) => object.kind === foundationDbBackups.kind);
      if (stage.story === "drill" && drills !== undefined && telling !== undefined) {
        await beginDrill(telling, drills);
        continue;
      }
      const wanted = documents.map((document) => toTimeBeforeLoss(document, telling));
      await createResources(site.client, site.transport, wanted);
    }
  }
  return [];
}

/** When everything of the stage is in force. */
export async function tellStage({ story }: ExampleStage, telling: Telling): Promise<string[]> {
  if (story === "restore") return tellCopy(telling.place);
  return story === "drill" ? tellDrill(telling.place) : [];
}

async function patchCluster(site: Site, path: string): Promise<void> {
  const cluster = await clusterOf(site);
  if (cluster === undefined) throw new Error(`there is nothing to patch in ${site.name}`);
  const { parse } = await import("yaml");
  const patch: unknown = parse(readFileSync(path, "utf8"));
  const { namespace, name = "" } = cluster.metadata;
  const key = { name, ...(namespace === undefined ? {} : { namespace }) };
  await site.client.patch(foundationDbClusters, key, patch, { type: "merge" });
}

async function clusterOf({ client }: Site): Promise<Stored<FoundationDBCluster> | undefined> {
  return (await client.list(foundationDbClusters)).items[0];
}
