// A claim that is set aside and given back: labels, owners and note change in one write, or not at all.
import assert from "node:assert/strict";
import { quarantineAnnotation, quarantineLabel } from "../../src/build/quarantine.ts";
import { capability } from "./case.ts";
import { claim } from "./samples.ts";
import { at } from "./target.ts";
import type { Json, Target } from "./target.ts";

/** A claim with a label and an owner, and what sets it aside. */
async function ownedClaim(target: Target): Promise<{ path: string; aside: Json }> {
  const owner = await target.create(target.path("configmaps"), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "owner" },
  });
  const uid = String(at(owner, "metadata.uid"));
  const made = claim("a", { storageClassName: target.unique("none") });
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  const metadata = { name: "a", labels: { mine: "yes", other: "kept" }, ownerReferences };
  const stored = await target.create(target.path("persistentvolumeclaims"), { ...made, metadata });
  const aside = {
    metadata: {
      uid: at(stored, "metadata.uid"),
      resourceVersion: at(stored, "metadata.resourceVersion"),
      ownerReferences: null,
      labels: { mine: null, [quarantineLabel]: "sample" },
      annotations: { [quarantineAnnotation]: "{}" },
    },
  };
  return { path: target.path("persistentvolumeclaims", "a"), aside };
}

export const claimQuarantineCases = capability("Quarantine of a claim", [
  [
    "[KC67] labels and owners go in one write",
    async (target) => {
      const { path, aside } = await ownedClaim(target);
      const stored = await target.patch("merge", path, aside);
      assert.deepEqual(at(stored, "metadata.labels"), {
        other: "kept",
        [quarantineLabel]: "sample",
      });
      assert.equal(at(stored, "metadata.ownerReferences"), undefined);
    },
  ],
  [
    "[KC67] a claim that has changed meanwhile is not set aside",
    async (target) => {
      const { path, aside } = await ownedClaim(target);
      await target.patch("merge", path, { metadata: { labels: { changed: "yes" } } });
      await target.refused({ status: 409, reason: "Conflict" }, "PATCH", path, aside, {
        patch: "merge",
      });
      assert.equal(at(await target.get(path), "metadata.labels.mine"), "yes");
    },
  ],
]);
