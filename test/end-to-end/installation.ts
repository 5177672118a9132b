// The operator's manifests on a real API server, as a person installs them, and a token of its service account.
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { customResourceDefinitions } from "../../src/api/crd.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { namespaces, storageClasses } from "../../src/kube/resource.ts";
import { standardStorageClass } from "../../src/sim/standard-storage.ts";
import { openHelm } from "../helm.ts";
import { applyManifests } from "./manifests.ts";
import type { EndToEnd } from "./scenario.ts";

export const operatorNamespace = "databases";
export const operatorAccount = "fdb-operator";
export const operatorUser = `system:serviceaccount:${operatorNamespace}:${operatorAccount}`;

/** The operator itself runs as a process of the test, so its Deployment gets no pods. */
export async function install(world: EndToEnd, values: readonly string[] = []): Promise<string> {
  const { client, say } = world;
  const helm = await openHelm(process.env, say);
  const objects = helm.template(["replicas=0", ...values], operatorNamespace);
  if (typeof objects === "string") throw new Error(objects);
  await client.create(namespaces, {
    ...{ apiVersion: "v1", kind: "Namespace" },
    metadata: { name: operatorNamespace },
  });
  await applyManifests(client, customResourceDefinitions, "");
  await applyManifests(client, objects, operatorNamespace, "helm");
  await client.create(storageClasses, standardStorageClass);
  await world.eventually("the CRDs are served", () =>
    client.list(foundationDbClusters).catch((error: unknown) => {
      if (isKubeError(error)) return undefined;
      throw error;
    }),
  );
  return token(world);
}

async function token({ transport }: EndToEnd): Promise<string> {
  const answer = await transport.request({
    method: "POST",
    path: `/api/v1/namespaces/${operatorNamespace}/serviceaccounts/${operatorAccount}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  });
  const { status } = answer.body as { status?: { token?: string } };
  if (status?.token === undefined) throw new Error(`no token: ${JSON.stringify(answer.body)}`);
  return status.token;
}
