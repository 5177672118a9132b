// Where the programs of a real control plane are looked for. Nothing is built or started here.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { binaryPath, findControlPlane } from "./control-plane-binary.ts";

function assetsFolder(...names: string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fdb-assets-"));
  for (const name of names) {
    writeFileSync(path.join(folder, name), "#!/bin/sh\n");
    chmodSync(path.join(folder, name), 0o755);
  }
  return folder;
}

const silent = (): void => {};

void test("[KC63] the binary lies in the cache folder under a hash of its sources", () => {
  const found = binaryPath({ XDG_CACHE_HOME: "/somewhere/cache" });
  assert.match(found, /^\/somewhere\/cache\/foundationdb-operator\/control-plane-[0-9a-f]{16}$/);
  assert.match(binaryPath({}), /\/\.cache\/foundationdb-operator\/control-plane-[0-9a-f]{16}$/);
});

void test("[KC63] KUBEBUILDER_ASSETS wins, and only what lies in it can be started", async () => {
  const folder = assetsFolder("etcd", "kube-apiserver", "kubectl");
  try {
    const found = await findControlPlane({ KUBEBUILDER_ASSETS: folder }, silent);
    assert.deepEqual(found.commands, {
      etcd: [path.join(folder, "etcd")],
      "kube-apiserver": [path.join(folder, "kube-apiserver")],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

void test("[KC63] assets without an API server are refused with a remedy", async () => {
  const folder = assetsFolder("etcd");
  try {
    await assert.rejects(
      findControlPlane({ KUBEBUILDER_ASSETS: folder }, silent),
      /KUBEBUILDER_ASSETS has no kube-apiserver: point it at a folder with etcd and kube-apiserver/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

void test("[KC63] without Go the remedy is named", async () => {
  const cache = mkdtempSync(path.join(tmpdir(), "fdb-cache-"));
  try {
    await assert.rejects(
      findControlPlane({ XDG_CACHE_HOME: cache, PATH: cache }, silent),
      /no go program to build etcd and Kubernetes with: install Go/,
    );
  } finally {
    rmSync(cache, { recursive: true });
  }
});
