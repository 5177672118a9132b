// Files of containers and volumes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ContainerFileView } from "./kubelet-files.ts";
import { VolumeStore } from "./kubelet-volume-store.ts";

test("[KUBELET16] a mounted volume hides the image's files below it, and the deepest mount wins", () => {
  const outer = new VolumeStore("outer", true);
  const inner = new VolumeStore("inner", true);
  const view = new ContainerFileView(
    [
      { mountPath: "/data", store: outer, subPath: "", isReadOnly: false },
      { mountPath: "/data/inner", store: inner, subPath: "part", isReadOnly: true },
    ],
    new Map([
      ["/data/file", "hidden"],
      ["/etc/file", "seen"],
    ]),
  );
  assert.equal(view.read("/data/file"), undefined);
  assert.equal(view.read("/etc/file"), "seen");
  assert.equal(view.write("/data/x", "1"), true);
  assert.equal(view.write("/data/inner/x", "1"), false);
  assert.equal(view.write("/database/x", "1"), false);
  assert.equal(view.write("/etc/file", "1"), false);
  inner.write("part/y", "2");
  assert.equal(view.read("/data/inner/y"), "2");
  assert.deepEqual(view.locate("/data/inner/y"), { volumeId: "inner", path: "part/y" });
  assert.deepEqual(view.locate("/data/../data//x"), { volumeId: "outer", path: "x" });
  assert.deepEqual(view.list("/data"), ["x"]);
});

test("[KUBELET16] a watch of a file sees changes of its text only, until the container ends", () => {
  const store = new VolumeStore("store", true);
  const mount = { mountPath: "/conf", store, subPath: "", isReadOnly: true };
  const view = new ContainerFileView([mount], new Map());
  let changes = 0;
  view.onChange("/conf/a", () => (changes += 1));
  store.replace(
    new Map([
      ["a", "1"],
      ["b", "1"],
    ]),
  );
  store.replace(
    new Map([
      ["a", "1"],
      ["b", "2"],
    ]),
  );
  assert.equal(changes, 1);
  store.replace(new Map());
  assert.equal(changes, 2);
  view.dispose();
  store.write("a", "3");
  assert.equal(changes, 2);
});
