// Volume claims that ask for more: who may, and what is said to the others.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { claim, volume } from "./samples.ts";
import { at } from "./target.ts";
import type { Json, Target } from "./target.ts";

const size = (storage: string): Json => ({ spec: { resources: { requests: { storage } } } });

/** A bound claim of 1Gi whose class says whether its volumes can grow. */
async function boundClaim(target: Target, allowVolumeExpansion: boolean): Promise<string> {
  const storageClassName = target.unique("class");
  await target.create(target.path("storageclasses"), {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: storageClassName },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "Immediate",
    allowVolumeExpansion,
  });
  const made = volume(target.unique("v"), { storageClassName });
  await target.create(target.path("persistentvolumes"), made);
  await target.create(target.path("persistentvolumeclaims"), claim("a", { storageClassName }));
  const path = target.path("persistentvolumeclaims", "a");
  await target.becomes(path, { "status.phase": "Bound", "status.capacity": { storage: "1Gi" } });
  return path;
}

export const claimGrowthCases = capability(
  "Growth of a claim",
  [
    [
      "[KC66] a bound claim of a class that allows it may ask for more",
      async (target) => {
        const path = await boundClaim(target, true);
        const tried = await target.patch("merge", path, size("2Gi"), { dryRun: "All" });
        assert.equal(at(tried, "spec.resources.requests.storage"), "2Gi");
        assert.equal(at(await target.get(path), "spec.resources.requests.storage"), "1Gi");
        const grown = await target.patch("merge", path, size("2Gi"));
        assert.equal(at(grown, "spec.resources.requests.storage"), "2Gi");
      },
    ],
    [
      "[KC66] a claim of a class that does not allow it is forbidden to, also in a dry run",
      async (target) => {
        const path = await boundClaim(target, false);
        const refusal = {
          status: 403,
          reason: "Forbidden",
          message:
            'persistentvolumeclaims "a" is forbidden: only dynamically provisioned pvc can be resized and ' +
            "the storageclass that provisions the pvc must support resize",
        };
        await target.refused(refusal, "PATCH", path, size("2Gi"), { patch: "merge" });
        const query = { dryRun: "All" };
        await target.refused(refusal, "PATCH", path, size("2Gi"), { patch: "merge", query });
      },
    ],
    [
      "[KC66] the same size in another form is no growth",
      async (target) => {
        const path = await boundClaim(target, false);
        const same = await target.patch("merge", path, size("1024Mi"));
        assert.equal(at(same, "spec.resources.requests.storage"), "1Gi");
      },
    ],
    [
      "[KC66] a claim that is not bound cannot ask for more",
      async (target) => {
        const made = claim("a", { storageClassName: target.unique("none") });
        await target.create(target.path("persistentvolumeclaims"), made);
        await target.refused(
          { status: 422, reason: "Invalid", message: /spec is immutable after creation/ },
          "PATCH",
          target.path("persistentvolumeclaims", "a"),
          size("2Gi"),
          { patch: "merge" },
        );
      },
    ],
    [
      "[KC66] a claim cannot ask for less than it has",
      async (target) => {
        const path = await boundClaim(target, true);
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            message: /field can not be less than status.capacity/,
          },
          "PATCH",
          path,
          size("512Mi"),
          { patch: "merge" },
        );
      },
    ],
  ],
  "controller-manager",
);
