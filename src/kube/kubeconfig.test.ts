// Connections from kubeconfig files and from a pod's files.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  KubeconfigError,
  inClusterConnection,
  parseKubeconfig,
  readKubeconfig,
} from "./kubeconfig.ts";

const config = `
apiVersion: v1
kind: Config
current-context: local
clusters:
  - name: one
    cluster: { server: "https://127.0.0.1:6443", certificate-authority-data: Q0E=, tls-server-name: kube }
  - name: two
    cluster: { server: "http://127.0.0.1:8080", insecure-skip-tls-verify: true }
contexts:
  - name: local
    context: { cluster: one, user: certificate, namespace: db }
  - name: plain
    context: { cluster: two, user: token }
  - name: command
    context: { cluster: two, user: exec }
  - name: broken
    context: { cluster: three, user: token }
users:
  - name: certificate
    user: { client-certificate-data: Q0VSVA==, client-key-data: S0VZ }
  - name: token
    user: { token: secret }
  - name: exec
    user: { exec: { command: login } }
`;

function withoutAbsent(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("[KUBE16] a kubeconfig gives the connection of its context", () => {
  assert.deepEqual(withoutAbsent(parseKubeconfig(config, "config")), {
    server: "https://127.0.0.1:6443",
    certificateAuthority: "CA",
    clientCertificate: "CERT",
    clientKey: "KEY",
    verifyServer: true,
    serverName: "kube",
    namespace: "db",
  });
  assert.deepEqual(withoutAbsent(parseKubeconfig(config, "config", "plain")), {
    server: "http://127.0.0.1:8080",
    token: "secret",
    verifyServer: false,
  });
});

test("[KUBE17] what cannot be used is refused with the file and the reason", () => {
  const refusal = (text: string, context?: string): string => {
    try {
      parseKubeconfig(text, "my/config", context);
    } catch (error) {
      if (error instanceof KubeconfigError) return error.message;
    }
    throw new Error("it was not refused");
  };
  assert.match(refusal(config, "nowhere"), /^my\/config: contexts has no entry named "nowhere"/);
  assert.match(refusal(config, "broken"), /clusters has no entry named "three"/);
  assert.match(refusal(config, "command"), /user "exec" signs in by a command/);
  assert.match(refusal("a: [", undefined), /is no YAML/);
  assert.match(refusal("", undefined), /is empty/);
  assert.match(refusal("clusters: []", undefined), /names no current-context/);
  assert.throws(() => readKubeconfig("/nowhere/config"), /cannot be read \(ENOENT\)/);
});

test("[KUBE18] in a pod the mounted service account is the connection", () => {
  const folder = mkdtempSync(join(tmpdir(), "account-"));
  try {
    assert.equal(inClusterConnection({}, folder), undefined);
    const variables = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    assert.throws(() => inClusterConnection(variables, folder), KubeconfigError);
    for (const name of ["ca.crt", "namespace", "token"])
      writeFileSync(join(folder, name), `${name}\n`);
    assert.deepEqual(inClusterConnection(variables, folder), {
      server: "https://[fd00::1]:443",
      certificateAuthority: "ca.crt",
      tokenFile: `${folder}/token`,
      namespace: "namespace",
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
