// The catalogue of images.
import assert from "node:assert/strict";
import { test } from "node:test";
import { binaryVersion } from "../pod/container-program.ts";
import { isImageReference } from "../emulator/kubelet-images.ts";
import { standardImages } from "./standard-images.ts";

const images = standardImages({ "example.com/own:1": "foundationdb/foundationdb:7.3.63" });

test("[KUBELET12] FoundationDB's images of supported versions are known by their names, from any place", () => {
  for (const reference of [
    "foundationdb/fdb-kubernetes-monitor:7.3.63",
    "example.com:5000/mirror/fdb-kubernetes-monitor:7.4.5",
    "foundationdb/foundationdb:7.1.0",
    "foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1",
    "example.com/own:1",
  ]) {
    assert.equal(images.find(reference)?.files.has("/usr/bin/fdbserver"), true, reference);
  }
  const sidecar = images.find("foundationdb/foundationdb-kubernetes-sidecar:7.3.63-1");
  assert.equal(binaryVersion(sidecar?.files.get("/usr/bin/fdbserver")), "7.3.63");
  for (const tag of ["6.3.24", "latest", "7.1.0-rc1", "7.3"]) {
    assert.equal(images.find(`foundationdb/foundationdb:${tag}`), undefined, tag);
  }
  assert.equal(images.find("nginx")?.files.size, 0);
  for (const reference of [
    "foundationdb/fdb-kubernetes-monitr:7.3.63",
    "foundationdb/database:7.3.63",
    "example.com:5000/foundationdb-server:7.3.63",
  ]) {
    assert.equal(images.find(reference), undefined, reference);
  }
  assert.equal(images.find("fdb.example.com/team/proxy:1")?.files.size, 0);
});

test("[KUBELET12] what is no image reference", () => {
  assert.equal(isImageReference("example.com:5000/a/b_c:v1.2-3"), true);
  assert.equal(isImageReference(`a@sha256:${"0".repeat(64)}`), true);
  for (const text of ["", "A B", "/a", "a:", "a::b:"])
    assert.equal(isImageReference(text), false, text);
});
