// Credentials that change while the program runs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { selfSignedCertificate } from "../emulator/certificate.ts";
import { Credentials } from "./credentials.ts";
import type { ExecCredential } from "./exec-credential.ts";
import { httpsTransport } from "./https.ts";

test("[KUBE83] a server whose authority is another one is reached as soon as the file says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rotation-"));
  const [old, young] = [selfSignedCertificate(), selfSignedCertificate()];
  const file = join(folder, "ca.crt");
  writeFileSync(file, old.certificatePem);
  const server = https.createServer(
    { cert: old.certificatePem, key: old.keyPem },
    (_, answer) => void answer.end("{}"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = httpsTransport({
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificateAuthority: old.certificatePem,
    files: { certificateAuthority: file },
  });
  const ask = async (): Promise<number> =>
    (await transport.request({ method: "GET", path: "/" })).status;
  try {
    assert.equal(await ask(), 200);
    server.setSecureContext({ cert: young.certificatePem, key: young.keyPem });
    server.closeAllConnections();
    await assert.rejects(ask(), /certificate/);
    writeFileSync(file, young.certificatePem);
    assert.equal(await ask(), 200);
    rmSync(file);
    assert.equal(await ask(), 200);
  } finally {
    transport.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test("[KUBE83] a client certificate is taken from its file, and stays the same object while it is", () => {
  const folder = mkdtempSync(join(tmpdir(), "rotation-"));
  try {
    const files = { clientCertificate: join(folder, "crt"), clientKey: join(folder, "key") };
    writeFileSync(files.clientCertificate, "one");
    writeFileSync(files.clientKey, "one key");
    const credentials = new Credentials({ server: "https://kube", files }, () => 0);
    const first = credentials.material();
    assert.deepEqual(first, { ca: undefined, cert: "one", key: "one key" });
    assert.equal(credentials.material(), first);
    writeFileSync(files.clientCertificate, "another");
    assert.equal(credentials.material().cert, "another");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[KUBE84] a sign-in is repeated before it runs out, once for all who wait, and after a refusal", async () => {
  let nowMs = 0;
  let signIns = 0;
  const answers: (() => Promise<ExecCredential>)[] = [];
  const credentials = new Credentials(
    {
      server: "https://kube",
      token: "first",
      expiresAtMs: 300_000,
      signInAgain: () => {
        signIns += 1;
        return answers.shift()?.() ?? Promise.reject(new Error("the command failed"));
      },
    },
    () => nowMs,
  );
  assert.equal(await credentials.authorization(), "Bearer first");
  answers.push(async () => ({ token: "second", expiresAtMs: 600_000 }));
  nowMs = 250_000;
  const both = await Promise.all([credentials.authorization(), credentials.authorization()]);
  assert.deepEqual([both, signIns], [["Bearer second", "Bearer second"], 1]);
  nowMs = 300_000;
  assert.equal(await credentials.refused(), false);
  assert.equal(await credentials.authorization(), "Bearer second");
  nowMs = 305_000;
  assert.equal(await credentials.refused(), false);
  assert.equal(signIns, 2);
  answers.push(async () => ({ token: "third" }));
  nowMs = 311_000;
  assert.equal(await credentials.refused(), true);
  assert.equal(await credentials.authorization(), "Bearer third");
});
