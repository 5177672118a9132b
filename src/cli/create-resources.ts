// Creates the resources of `npm start -- -f FILE` on the emulated API server, in the order of the file, and words a refusal
// so that a person finds the field.
import { isKubeError } from "../kube/error.ts";
import type { KubeObject } from "../kube/object.ts";
import type { KubeClient } from "../kube/client.ts";
import { namespaces, serviceAccounts } from "../kube/resource.ts";
import type { Resource } from "../kube/resource.ts";
import type { KubeTransport } from "../kube/transport.ts";
import { CommandError } from "../env/command-error.ts";
import type { SourceDocument } from "./documents.ts";

export async function createResources(
  client: KubeClient,
  transport: KubeTransport,
  documents: readonly SourceDocument[],
): Promise<KubeObject[]> {
  const created: KubeObject[] = [];
  for (const document of documents) {
    const resource = await findResource(transport, document);
    const namespace = document.object.metadata?.namespace ?? "default";
    if (resource.isNamespaced) {
      await ensureNamespace(client, namespace);
      await ensurePodAccount(client, namespace);
    }
    const object: KubeObject = resource.isNamespaced
      ? { ...document.object, metadata: { ...document.object.metadata, namespace } }
      : document.object;
    try {
      created.push(await client.create(resource, object, { fieldValidation: "Strict" }));
    } catch (error) {
      if (!isKubeError(error)) throw error;
      const name = document.object.metadata?.name ?? "";
      throw new CommandError(
        `${document.file}: ${document.object.kind} ${name} is refused: ${error.message}`,
      );
    }
  }
  return created;
}

async function findResource(
  transport: KubeTransport,
  document: SourceDocument,
): Promise<Resource<KubeObject>> {
  const { apiVersion, kind } = document.object;
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const answer = await transport.request({ method: "GET", path });
  const list = answer.body as { resources?: { name: string; kind: string; namespaced: boolean }[] };
  const found = list.resources?.find((entry) => entry.kind === kind && !entry.name.includes("/"));
  if (answer.status !== 200 || found === undefined) {
    throw new CommandError(
      `${document.file}, document ${document.number}: the emulated API server knows no ${kind} of ${apiVersion}; remove it from the file`,
    );
  }
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return {
    group: group ?? "",
    version: version ?? "",
    kind,
    plural: found.name,
    isNamespaced: found.namespaced,
  };
}

/** An installation of the operator brings this account for the pods of databases, so it is there in development too. */
async function ensurePodAccount(client: KubeClient, namespace: string): Promise<void> {
  const name = "fdb-database";
  if ((await client.find(serviceAccounts, { namespace, name })) !== undefined) return;
  const metadata = { name, namespace };
  await client.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata });
}

async function ensureNamespace(client: KubeClient, name: string): Promise<void> {
  if ((await client.find(namespaces, { name })) !== undefined) return;
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}
