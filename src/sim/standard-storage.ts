// The storage class of every emulated cluster: volumes are made by src/emulator when a pod that wants them has a node.
import type { StorageClass } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";

export const standardStorageClass: Stored<StorageClass> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: "standard",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: "disk.emulated.foundationdb.org",
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
  allowVolumeExpansion: true,
};
