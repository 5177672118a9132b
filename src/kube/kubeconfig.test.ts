// Connections from kubeconfig files and from a pod's files.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import {
  KubeconfigError,
  connectionOfOperator,
  connectionOfPerson,
  inClusterConnection,
  readKubeconfig,
} from "./kubeconfig.ts";
import type { KubeConnection } from "./kubeconfig.ts";
import { execCredential, renewCredential } from "./exec-credential.ts";

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

/** The connection of a file with this text. */
function connectionOf(
  text: string,
  context?: string,
  signIn?: Parameters<typeof readKubeconfig>[2],
): KubeConnection {
  const folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  try {
    const path = join(folder, "config");
    writeFileSync(path, text);
    return readKubeconfig(path, context, signIn);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withoutAbsent(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("[KUBE16] a kubeconfig gives the connection of its context", () => {
  assert.deepEqual(withoutAbsent(connectionOf(config)), {
    server: "https://127.0.0.1:6443",
    certificateAuthority: "CA",
    clientCertificate: "CERT",
    clientKey: "KEY",
    verifyServer: true,
    serverName: "kube",
    namespace: "db",
  });
  assert.deepEqual(withoutAbsent(connectionOf(config, "plain")), {
    server: "http://127.0.0.1:8080",
    token: "secret",
    verifyServer: false,
  });
});

test("[KUBE17] what cannot be used is refused with the file and the reason", () => {
  const refusal = (text: string, context?: string): string => {
    try {
      connectionOf(text, context);
    } catch (error) {
      if (error instanceof KubeconfigError) return error.message;
    }
    throw new Error("it was not refused");
  };
  assert.match(refusal(config, "nowhere"), /\/config: contexts has no entry named "nowhere"/);
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
      files: { certificateAuthority: `${folder}/ca.crt` },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[E17] the kubeconfig of a person: named, from the environment, from the home folder, or none", () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-kubeconfig-"));
  try {
    const write = (name: string, server: string): string => {
      const path = join(folder, name);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, config.replace("https://127.0.0.1:6443", server));
      return path;
    };
    const named = write("named", "https://named");
    const listed = write("listed", "https://listed");
    write(".kube/config", "https://home");
    const absent = join(folder, "absent");
    const find = (path: string | undefined, environment: Record<string, string>) =>
      connectionOfPerson(path, undefined, environment)?.server;
    const home = { HOME: folder };
    assert.equal(find(named, { KUBECONFIG: listed }), "https://named");
    assert.equal(
      find(undefined, { ...home, KUBECONFIG: [absent, listed].join(delimiter) }),
      "https://listed",
    );
    assert.equal(find(undefined, home), "https://home");
    assert.equal(find(undefined, { HOME: absent }), undefined);
    assert.throws(() => find(undefined, { ...home, KUBECONFIG: absent }), KubeconfigError);
    assert.equal(connectionOfPerson(named, "plain", {})?.token, "secret");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[E18] a person signs in by the command that the kubeconfig names", () => {
  const signInBy = (code: string): KubeConnection | undefined => {
    const folder = mkdtempSync(join(tmpdir(), "fdb-operator-kubeconfig-"));
    try {
      const path = join(folder, "config");
      const exec = {
        command: process.execPath,
        args: ["-e", code],
        env: [{ name: "A", value: "b" }],
      };
      writeFileSync(path, config.replace("{ command: login }", JSON.stringify(exec)));
      return connectionOfPerson(path, "command", {});
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const print =
    "const { spec, kind } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);" +
    "const token = kind + spec.interactive + process.env.A;" +
    "console.log(JSON.stringify({ status: { token, clientCertificateData: 'C', clientKeyData: 'K' } }))";
  const { token, clientCertificate, clientKey } = signInBy(print) ?? {};
  assert.deepEqual([token, clientCertificate, clientKey], ["ExecCredentialfalseb", "C", "K"]);
  assert.throws(
    () => signInBy("console.error('expired'); process.exit(3)"),
    /exit code 3: expired$/,
  );
  assert.throws(() => signInBy("console.log('hello')"), /printed no credential$/);
  assert.throws(() => signInBy("console.log('{}')"), /without a status$/);
  const signIn = {
    now: (settings: Readonly<Record<string, unknown>>) => execCredential(settings, {}),
    again: () => Promise.reject(new Error("not asked again")),
  };
  const missing = config.replace("command: login", "command: no-such-program, installHint: get it");
  assert.throws(
    () => connectionOf(missing, "command", signIn),
    /cannot run no-such-program to sign in: .*ENOENT.*\(get it\)/,
  );
});

test("[RUN13] a sign-in that fails does not tell the arguments of its program", async () => {
  const args = (code: string): string[] => ["-e", code, "--", "--client-secret=hush"];
  const command = process.execPath;
  for (const code of ["process.exit(3)", "process.kill(process.pid, 'SIGKILL')"]) {
    const settings = { command, args: args(code) };
    const messages = [
      await renewCredential(settings, {}).then(String, (error: Error) => error.message),
    ];
    assert.throws(
      () => execCredential(settings, {}),
      ({ message }: Error) => messages.push(message) > 0,
    );
    for (const message of messages) {
      assert.match(message, /sign in/);
      assert.doesNotMatch(message, /hush/);
    }
  }
});

test("[KUBE81] several files are one: the first entry of a name counts, with paths from its own file", () => {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-kubeconfig-"));
  const write = (name: string, content: object): string => {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const cluster = (server: string, more = {}) => ({ name: "kube", cluster: { server, ...more } });
  try {
    const first = write("one/config", {
      clusters: [cluster("https://first", { "certificate-authority": "ca.pem" })],
      contexts: [{ name: "both", context: { cluster: "kube", user: "me" } }],
    });
    writeFileSync(join(folder, "one", "ca.pem"), "CA");
    const second = write("two/config", {
      "current-context": "both",
      clusters: [cluster("https://second")],
      users: [{ name: "me", user: { tokenFile: "token" } }],
    });
    const list = [first, join(folder, "absent"), second].join(delimiter);
    const { server, certificateAuthority, tokenFile, files } =
      connectionOfOperator(list, "", {}) ?? {};
    assert.equal(server, "https://first");
    assert.equal(certificateAuthority, "CA");
    assert.deepEqual(files, { certificateAuthority: join(folder, "one", "ca.pem") });
    assert.equal(tokenFile, join(folder, "two", "token"));
    const alone = (): unknown => connectionOfOperator(first, "", {});
    assert.throws(alone, /names no current-context/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
