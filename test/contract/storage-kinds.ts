// Storage: volume claims, volumes and storage classes.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { claim, pod, volume } from "./samples.ts";
import { at, pick } from "./target.ts";
import type { Json } from "./target.ts";

export const claimCases = capability(
  "PersistentVolumeClaim",
  [
    [
      "[KC47] a claim gets its defaults and its protection",
      async (target) => {
        const sent = claim("a", { storageClassName: target.unique("none") });
        const made = await target.create(target.path("persistentvolumeclaims"), sent);
        assert.deepEqual(pick(made, "spec", "status", "metadata.finalizers"), {
          spec: {
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: "1Gi" } },
            storageClassName: target.unique("none"),
            volumeMode: "Filesystem",
          },
          status: { phase: "Pending" },
          "metadata.finalizers": ["kubernetes.io/pvc-protection"],
        });
      },
    ],
    [
      "[KC47] a claim binds to the volume that fits",
      async (target) => {
        const name = target.unique("v");
        const storageClassName = target.unique("class");
        await target.create(target.path("persistentvolumes"), volume(name, { storageClassName }));
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("a", { storageClassName }),
        );
        await target.becomes(target.path("persistentvolumeclaims", "a"), {
          "status.phase": "Bound",
          "spec.volumeName": name,
          "status.capacity": { storage: "1Gi" },
          "status.accessModes": ["ReadWriteOnce"],
        });
        const bound = await target.becomes(target.path("persistentvolumes", name), {
          "status.phase": "Bound",
        });
        assert.deepEqual(pick(at(bound, "spec.claimRef"), "kind", "name", "namespace"), {
          kind: "PersistentVolumeClaim",
          name: "a",
          namespace: target.namespace,
        });
      },
    ],
    [
      "[KC47] a claim that a pod uses is deleted after the pod",
      async (target) => {
        const path = target.path("persistentvolumeclaims", "a");
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("a", { storageClassName: target.unique("none") }),
        );
        const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "a" } }];
        const nodeName = target.unique("node");
        await target.create(target.path("pods"), pod("p", { volumes, nodeName }));
        await target.delete(path);
        const marked = await target.get(path);
        assert.deepEqual(at(marked, "metadata.finalizers"), ["kubernetes.io/pvc-protection"]);
        await target.delete(target.path("pods", "p"), { gracePeriodSeconds: 0 });
        await target.gone(path);
      },
    ],
    [
      "[KC47] an unused claim is deleted",
      async (target) => {
        const path = target.path("persistentvolumeclaims", "a");
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("a", { storageClassName: target.unique("none") }),
        );
        await target.delete(path);
        await target.gone(path);
      },
    ],
    [
      "[KC47] a claim needs an access mode and a size",
      async (target) => {
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [
              { field: "spec.accessModes", reason: "FieldValueRequired" },
              { field: "spec.resources[storage]", reason: "FieldValueRequired" },
            ],
          },
          "POST",
          target.path("persistentvolumeclaims"),
          claim("a", { accessModes: [], resources: {} }),
        );
      },
    ],
    [
      "[KC47] the spec of a claim is fixed, but for its size once bound",
      async (target) => {
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("a", { storageClassName: target.unique("none") }),
        );
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [{ field: "spec", reason: "FieldValueForbidden" }],
            message: /spec is immutable after creation except resources.requests/,
          },
          "PATCH",
          target.path("persistentvolumeclaims", "a"),
          { spec: { accessModes: ["ReadWriteMany"] } },
          { patch: "merge" },
        );
      },
    ],
  ],
  "controller-manager",
);

export const volumeCases = capability(
  "PersistentVolume",
  [
    [
      "[KC48] a volume gets its defaults and its protection",
      async (target) => {
        const name = target.unique("v");
        const made = await target.create(target.path("persistentvolumes"), volume(name));
        assert.deepEqual(pick(made, "spec", "metadata.finalizers", "status.phase"), {
          spec: {
            capacity: { storage: "1Gi" },
            csi: { driver: "disk.example.com", volumeHandle: name },
            accessModes: ["ReadWriteOnce"],
            persistentVolumeReclaimPolicy: "Retain",
            volumeMode: "Filesystem",
          },
          "metadata.finalizers": ["kubernetes.io/pv-protection"],
          "status.phase": "Pending",
        });
      },
    ],
    [
      "[KC48] a volume without a claim becomes available and can be deleted",
      async (target) => {
        const name = target.unique("v");
        const path = target.path("persistentvolumes", name);
        const spec = { storageClassName: target.unique("none") };
        await target.create(target.path("persistentvolumes"), volume(name, spec));
        await target.becomes(path, { "status.phase": "Available" });
        await target.delete(path);
        await target.gone(path);
      },
    ],
    [
      "[KC48] a retained volume is released when its claim goes",
      async (target) => {
        const name = target.unique("v");
        const storageClassName = target.unique("class");
        await target.create(target.path("persistentvolumes"), volume(name, { storageClassName }));
        await target.create(
          target.path("persistentvolumeclaims"),
          claim("a", { storageClassName }),
        );
        const path = target.path("persistentvolumeclaims", "a");
        await target.becomes(path, { "status.phase": "Bound" });
        await target.delete(path);
        await target.gone(path);
        await target.becomes(target.path("persistentvolumes", name), {
          "status.phase": "Released",
        });
      },
    ],
    [
      "[KC48] a released volume is handed to a claim that names it, by a claimRef without uid",
      async (target) => {
        const name = target.unique("v");
        const storageClassName = target.unique("class");
        const place = target.path("persistentvolumes", name);
        await target.create(target.path("persistentvolumes"), volume(name, { storageClassName }));
        const claims = target.path("persistentvolumeclaims");
        const path = target.path("persistentvolumeclaims", "a");
        await target.create(claims, claim("a", { storageClassName }));
        await target.becomes(path, { "status.phase": "Bound" });
        await target.delete(path);
        await target.gone(path);
        await target.becomes(place, { "status.phase": "Released" });
        const uid = at(await target.get(place), "spec.claimRef.uid");
        await target.create(claims, claim("a", { storageClassName, volumeName: name }));
        // The volume is still that of the claim which is gone.
        await target.becomes(path, { "status.phase": "Pending" });
        const { namespace } = (await target.get(path))["metadata"] as Json;
        const value = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: "a" };
        await target.patch("json", place, [
          { op: "test", path: "/spec/claimRef/uid", value: uid },
          { op: "replace", path: "/spec/claimRef", value },
        ]);
        await target.becomes(path, { "status.phase": "Bound", "spec.volumeName": name });
        const again = await target.get(place);
        assert.equal(at(again, "spec.claimRef.uid"), at(await target.get(path), "metadata.uid"));
      },
    ],
    [
      "[KC48] a volume has exactly one source",
      async (target) => {
        const name = target.unique("v");
        const sent = volume(name, { csi: undefined });
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [{ field: "spec", reason: "FieldValueRequired" }],
          },
          "POST",
          target.path("persistentvolumes"),
          sent,
        );
      },
    ],
  ],
  "controller-manager",
);

function storageClass(name: string, extra: Json = {}): Json {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "disk.example.com",
    ...extra,
  };
}

export const storageClassCases = capability("StorageClass", [
  [
    "[KC49] a class gets its defaults",
    async (target) => {
      const name = target.unique("class");
      const made = await target.create(target.path("storageclasses"), storageClass(name));
      assert.deepEqual(pick(made, "reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion"), {
        reclaimPolicy: "Delete",
        volumeBindingMode: "Immediate",
        allowVolumeExpansion: undefined,
      });
    },
  ],
  [
    "[KC49] the provisioner cannot change",
    async (target) => {
      const name = target.unique("class");
      await target.create(target.path("storageclasses"), storageClass(name));
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "provisioner", reason: "FieldValueInvalid" }],
        },
        "PATCH",
        target.path("storageclasses", name),
        { provisioner: "other.example.com" },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC49] a class needs a provisioner and a mode that exists",
    async (target) => {
      const name = target.unique("class");
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "provisioner", reason: "FieldValueRequired" },
            { field: "volumeBindingMode", reason: "FieldValueNotSupported" },
          ],
        },
        "POST",
        target.path("storageclasses"),
        storageClass(name, { provisioner: "", volumeBindingMode: "Sometimes" }),
      );
    },
  ],
]);
