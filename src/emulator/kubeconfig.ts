// The kubeconfig with which kubectl reaches the emulated server.
import { stringify } from "yaml";

export interface KubeconfigParts {
  url: string;
  caPem: string;
  token: string;
}

export function kubeconfigText({ url, caPem, token }: KubeconfigParts): string {
  const name = "fdb-operator-dev";
  const authority = Buffer.from(caPem).toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}
