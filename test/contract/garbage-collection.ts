// Owner garbage collection: what happens to dependents when their owner goes.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { configMap, ownerOf } from "./samples.ts";
import { asList, at, pick } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { installWidgets } from "./widget.ts";

interface Family {
  owner: string;
  child: string;
  made: Json;
}

async function family(target: Target, reference: Json = {}, held: string[] = []): Promise<Family> {
  const path = target.path("configmaps");
  const made = await target.create(path, configMap("owner"));
  const ownerReferences = [ownerOf(made, reference)];
  const metadata = { ownerReferences, finalizers: held };
  await target.create(path, configMap("child", {}, metadata));
  return {
    made,
    owner: target.path("configmaps", "owner"),
    child: target.path("configmaps", "child"),
  };
}

export const backgroundCases = capability(
  "garbage collection, background",
  [
    [
      "[KC22] the owner goes at once and its dependent follows",
      async (target) => {
        const { owner, child } = await family(target);
        await target.delete(owner, { propagationPolicy: "Background" });
        await target.refused({ status: 404, reason: "NotFound" }, "GET", owner);
        await target.gone(child);
      },
    ],
    [
      "[KC22] dependents of dependents go too",
      async (target) => {
        const { owner, child } = await family(target);
        const parent = await target.get(child);
        const ownerReferences = [ownerOf(parent)];
        await target.create(
          target.path("configmaps"),
          configMap("grandchild", {}, { ownerReferences }),
        );
        await target.delete(owner);
        await target.gone(child);
        await target.gone(target.path("configmaps", "grandchild"));
      },
    ],
    [
      "[KC22] a dependent with a second owner that lives stays, without the dead reference",
      async (target) => {
        const { owner, child } = await family(target);
        const other = await target.create(target.path("configmaps"), configMap("other"));
        const references = asList(at(await target.get(child), "metadata.ownerReferences"));
        await target.patch("merge", child, {
          metadata: { ownerReferences: [...references, ownerOf(other)] },
        });
        await target.delete(owner);
        await target.becomes(child, { "metadata.ownerReferences": [ownerOf(other)] });
      },
    ],
    [
      "[KC22] a dependent whose owner never existed is removed",
      async (target) => {
        const uid = "11111111-1111-4111-8111-111111111111";
        const reference = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid };
        await target.create(
          target.path("configmaps"),
          configMap("child", {}, { ownerReferences: [reference] }),
        );
        await target.gone(target.path("configmaps", "child"));
      },
    ],
    [
      "[KC22] an owner of the same name and another uid is not the owner",
      async (target) => {
        await target.create(target.path("configmaps"), configMap("owner"));
        const uid = "22222222-2222-4222-8222-222222222222";
        const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid };
        await target.create(
          target.path("configmaps"),
          configMap("child", {}, { ownerReferences: [reference] }),
        );
        await target.gone(target.path("configmaps", "child"));
      },
    ],
    [
      "[KC22] custom resources own built-in objects",
      async (target) => {
        const kind = await installWidgets(target);
        const made = await target.create(kind.path, kind.widget("owner"));
        const reference = ownerOf(made, { controller: true, blockOwnerDeletion: true });
        await target.create(
          target.path("configmaps"),
          configMap("child", {}, { ownerReferences: [reference] }),
        );
        await target.delete(kind.at("owner"));
        await target.gone(target.path("configmaps", "child"));
      },
    ],
  ],
  "controller-manager",
);

export const foregroundCases = capability(
  "garbage collection, foreground",
  [
    [
      "[KC23] the owner waits for its dependents under a finalizer",
      async (target) => {
        const hold = "example.com/hold";
        const { owner, child } = await family(target, { blockOwnerDeletion: true }, [hold]);
        const answer = await target.delete(owner, { propagationPolicy: "Foreground" });
        assert.deepEqual(at(answer, "metadata.finalizers"), ["foregroundDeletion"]);
        await target.eventually("the child is marked", async () =>
          at(await target.get(child), "metadata.deletionTimestamp"),
        );
        await target.get(owner);
        await target.patch("merge", child, { metadata: { finalizers: null } });
        await target.gone(child);
        await target.gone(owner);
      },
    ],
    [
      "[KC23] a dependent that does not block is deleted without being waited for",
      async (target) => {
        const { owner, child } = await family(target, {}, ["example.com/hold"]);
        await target.delete(owner, { propagationPolicy: "Foreground" });
        await target.gone(owner);
        await target.eventually("the child is marked", async () =>
          at(await target.get(child), "metadata.deletionTimestamp"),
        );
      },
    ],
    [
      "[KC23] an owner without dependents goes",
      async (target) => {
        await target.create(target.path("configmaps"), configMap("owner"));
        const owner = target.path("configmaps", "owner");
        await target.delete(owner, { propagationPolicy: "Foreground" });
        await target.gone(owner);
      },
    ],
    [
      "[KC23] the deletion reaches down through blocking dependents",
      async (target) => {
        const blocking = { blockOwnerDeletion: true };
        const { owner, child } = await family(target, blocking);
        const parent = await target.get(child);
        const ownerReferences = [ownerOf(parent, blocking)];
        await target.create(
          target.path("configmaps"),
          configMap("grandchild", {}, { ownerReferences }),
        );
        await target.delete(owner, { propagationPolicy: "Foreground" });
        await target.gone(owner);
        await target.refused({ status: 404, reason: "NotFound" }, "GET", child);
        await target.gone(target.path("configmaps", "grandchild"));
      },
    ],
  ],
  "controller-manager",
);

export const orphanCases = capability(
  "garbage collection, orphan",
  [
    [
      "[KC24] dependents stay and lose the reference",
      async (target) => {
        const { owner, child } = await family(target);
        await target.delete(owner, { propagationPolicy: "Orphan" });
        await target.gone(owner);
        await target.becomes(child, {
          "metadata.ownerReferences": undefined,
          "metadata.deletionTimestamp": undefined,
        });
      },
    ],
    [
      "[KC24] the owner is marked with the orphan finalizer",
      async (target) => {
        const { owner } = await family(target);
        const answer = await target.delete(owner, { propagationPolicy: "Orphan" });
        assert.deepEqual(pick(answer, "kind", "metadata.finalizers"), {
          kind: "ConfigMap",
          "metadata.finalizers": ["orphan"],
        });
        await target.gone(owner);
      },
    ],
    [
      "[KC24] references to other owners stay",
      async (target) => {
        const { owner, child, made } = await family(target);
        const other = await target.create(target.path("configmaps"), configMap("other"));
        await target.patch("merge", child, {
          metadata: { ownerReferences: [ownerOf(made), ownerOf(other)] },
        });
        await target.delete(owner, { propagationPolicy: "Orphan" });
        await target.gone(owner);
        await target.becomes(child, { "metadata.ownerReferences": [ownerOf(other)] });
      },
    ],
    [
      "[KC24] a policy that does not exist is refused",
      async (target) => {
        const { owner } = await family(target);
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [{ field: "propagationPolicy", reason: "FieldValueNotSupported" }],
          },
          "DELETE",
          owner,
          { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Scatter" },
        );
      },
    ],
  ],
  "controller-manager",
);
