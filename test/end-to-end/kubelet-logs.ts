// What a real API server asks a kubelet for when somebody wants the log of a container: the emulated nodes of a scenario
// answer on loopback.
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { selfSignedCertificate } from "../../src/emulator/certificate.ts";
import type { RunningKubelet } from "../../src/emulator/kubelet.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { nodes } from "../../src/kube/resource.ts";

/** All nodes get this address; it ends with the process. */
export async function serveLogs(kubelet: RunningKubelet, client: KubeClient): Promise<void> {
  const { certificatePem: cert, keyPem: key } = selfSignedCertificate();
  const server = createServer({ cert, key }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://kubelet");
    const [, what, namespace = "", pod = "", container = ""] = pathname.split("/");
    const lines = what === "containerLogs" ? kubelet.logs(namespace, pod, container) : undefined;
    if (lines === undefined) return void response.writeHead(404).end();
    const text = lines.map((line) => `${line.text}\n`).join("");
    return void response.end(text.slice(0, Number(searchParams.get("limitBytes") ?? Infinity)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const { items } = await client.list(nodes);
  for (const { metadata } of items) {
    const { name = "" } = metadata;
    await client.patch(nodes, { name }, { status }, { type: "merge", subresource: "status" });
  }
}
