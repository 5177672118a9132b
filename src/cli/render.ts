// `fdb-operator render`: the objects that the operator would create for a cluster, from the same plan that it would follow
// on an empty Kubernetes. Nothing is contacted. Rules: spec/cli.md [CLI7].
import { safetyChecks } from "../plan/safety/checks.ts";
import { append } from "../env/long-lists.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { validateDocument } from "../api/validate-document.ts";
import { normalCluster } from "../build/normalise.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Node, PersistentVolumeClaim, Pod, Service } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { hallSpreadOf } from "../api/hall-spread.ts";
import { planCluster } from "../plan/chain.ts";
import { PlanMemory } from "../plan/view/plan-memory.ts";
import { defaultPlanOptions, nothingRemembered } from "../plan/snapshot.ts";
import { CommandError } from "../env/command-error.ts";
import { readDocuments } from "./documents.ts";
import type { SourceDocument } from "./documents.ts";

export interface RenderOptions {
  file: string[];
  output: "yaml" | "json";
  seed: number;
  namespace: string;
}

/** Stands for the address that a real API server would give a service (a range kept for documentation). */
const placeholderAddress = "192.0.2.1";

export async function runRender(options: RenderOptions): Promise<void> {
  const objects: KubeObject[] = [];
  for (const file of options.file) {
    const documents = await readDocuments(file);
    const clusters = documents.filter(({ object }) => object.kind === foundationDbClusters.kind);
    if (clusters.length === 0)
      throw new CommandError(`${file}: there is no FoundationDBCluster in it`);
    for (const document of clusters) append(objects, renderDocument(document, options));
  }
  process.stdout.write(await printed(objects, options.output));
}

function renderDocument(document: SourceDocument, options: RenderOptions): KubeObject[] {
  const errors = validateDocument(document.object).filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first !== undefined) {
    const more = errors.length > 1 ? ` and ${errors.length - 1} more (run validate)` : "";
    throw new CommandError(`${document.file}: ${first.field}: ${first.message}${more}`);
  }
  return renderCluster(document.object as FoundationDBCluster, options);
}

/** All objects of a new cluster, in the order in which the operator would create them. */
export function renderCluster(
  resource: FoundationDBCluster,
  options: Pick<RenderOptions, "seed" | "namespace">,
): KubeObject[] {
  const namespace = resource.metadata.namespace ?? options.namespace;
  const uid = "00000000-0000-0000-0000-000000000000";
  let cluster: FoundationDBCluster = {
    ...resource,
    metadata: { ...resource.metadata, namespace, uid, generation: 1 },
  };
  const pods = new Map<string, Stored<Pod>>();
  const pvcs = new Map<string, Stored<PersistentVolumeClaim>>();
  const services = new Map<string, Stored<Service>>();
  const created: KubeObject[] = [];
  // A second look creates what waits for the services' addresses.
  for (let pass = 0; pass < 2; pass += 1) {
    const plan = planCluster({
      ...{ nowMs: 0, pods, pvcs, services, configMap: undefined, sidecars: new Map() },
      cluster: normalCluster(cluster),
      database: { kind: "missing", reason: "NoConnectionString", message: "", sinceMs: 0 },
      ...nothingRemembered,
      placementNodes: placeholderNodes(cluster),
      seed: options.seed,
      options: defaultPlanOptions,
      checks: safetyChecks,
      memory: new PlanMemory(),
    });
    for (const action of plan.actions) {
      if (action.type === "createPod") pods.set(action.object.metadata.name ?? "", action.object);
      else if (action.type === "createPvc")
        pvcs.set(action.object.metadata.name ?? "", action.object);
      else if (action.type === "createService")
        services.set(action.object.metadata.name ?? "", addressed(action.object));
      else if (action.type !== "createConfigMap" || pass > 0) continue;
      created.push(action.object);
    }
    cluster = { ...cluster, status: plan.status };
  }
  return created.map(withoutServerParts);
}

/** Nodes with two zones in each of three halls; halls that only nodes can name get placeholders. */
function placeholderNodes({ spec }: FoundationDBCluster): Stored<Node>[] | undefined {
  const spread = hallSpreadOf(spec);
  if (spread === undefined) return undefined;
  const halls = spread.values.length > 0 ? spread.values : ["hall-1", "hall-2", "hall-3"];
  return [...halls, ...halls].map((hall, index) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `node-${index}`, labels: { [spread.topologyKey]: hall } },
  }));
}

function addressed(service: Stored<Service>): Stored<Service> {
  if (service.spec?.clusterIP === "None") return service;
  return { ...service, spec: { ...service.spec, clusterIP: placeholderAddress } };
}

/** The owner's uid is known only to a server, so the reference to it is left out. */
function withoutServerParts(object: KubeObject): KubeObject {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function printed(objects: readonly KubeObject[], form: "yaml" | "json"): Promise<string> {
  if (form === "json") {
    return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, null, 2)}\n`;
  }
  const { stringify } = await import("yaml");
  return objects
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join("---\n");
}
