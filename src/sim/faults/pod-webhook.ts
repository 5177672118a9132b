// A mutating webhook, as a service mesh or a policy engine brings one: pods that are created while it is on get a container,
// a label and an annotation that nobody specified. Rules: spec/world.md [W116].
import type { Pod } from "../../kube/generated/types.ts";
import type { KubeRequest, KubeTransport } from "../../kube/transport.ts";

const proxy = {
  name: "mesh-proxy",
  image: "busybox:1.36",
  command: ["sleep", "infinity"],
  resources: { requests: { cpu: "10m", memory: "16Mi" } },
};

export class PodWebhook {
  isOn = false;

  transport(transport: KubeTransport): KubeTransport {
    return {
      watch: (request, onEvent) => transport.watch(request, onEvent),
      request: (request) => transport.request(this.isOn ? mutated(request) : request),
    };
  }
}

function mutated(request: KubeRequest): KubeRequest {
  if (request.method !== "POST" || !request.path.endsWith("/pods")) return request;
  const pod = request.body as Pod;
  const body: Pod = {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata?.labels, "mesh.example.com/injected": "true" },
      annotations: { ...pod.metadata?.annotations, "mesh.example.com/revision": "7" },
    },
    spec: { ...pod.spec, containers: [...(pod.spec?.containers ?? []), proxy] },
  };
  return { ...request, body };
}
