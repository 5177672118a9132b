// Leases and roles.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { at, normal, pick } from "./target.ts";
import type { Json } from "./target.ts";

function lease(name: string, spec: Json): Json {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
}

const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };

function rbac(kind: string, name: string, parts: Json): Json {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name }, ...parts };
}

export const leaseCases = capability("Lease", [
  [
    "[KC45] times keep their microseconds",
    async (target) => {
      const spec = {
        holderIdentity: "one",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.678901Z",
        renewTime: "2026-01-02T03:04:05.000000Z",
        leaseTransitions: 1,
      };
      const made = await target.create(target.path("leases"), lease("a", spec));
      assert.deepEqual(made["spec"], spec);
    },
  ],
  [
    "[KC45] a takeover with the old version is a conflict",
    async (target) => {
      const made = await target.create(
        target.path("leases"),
        lease("a", { holderIdentity: "one", leaseDurationSeconds: 15 }),
      );
      const path = target.path("leases", "a");
      const take = (holderIdentity: string): Json => ({
        ...made,
        spec: { holderIdentity, leaseDurationSeconds: 15 },
      });
      await target.replace(path, take("two"));
      await target.refused({ status: 409, reason: "Conflict" }, "PUT", path, take("three"));
    },
  ],
  [
    "[KC45] durations and counts are not negative",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [
            { field: "spec.leaseDurationSeconds", reason: "FieldValueInvalid" },
            { field: "spec.leaseTransitions", reason: "FieldValueInvalid" },
          ],
        },
        "POST",
        target.path("leases"),
        lease("a", { leaseDurationSeconds: 0, leaseTransitions: -1 }),
      );
    },
  ],
  [
    "[KC45] a lease that does not exist is created by a replacement",
    async (target) => {
      const path = target.path("leases", "a");
      const made = await target.expect(201, "PUT", path, lease("a", { holderIdentity: "one" }));
      assert.equal(at(made, "spec.holderIdentity"), "one");
    },
  ],
]);

export const rbacCases = capability("RBAC", [
  [
    "[KC46] roles and cluster roles are stored",
    async (target) => {
      const role = await target.create(target.path("roles"), rbac("Role", "a", { rules: [rule] }));
      assert.deepEqual(pick(normal(role), "rules", "metadata.namespace"), {
        rules: [rule],
        "metadata.namespace": target.namespace,
      });
      const name = target.unique("role");
      const wide = await target.create(
        target.path("clusterroles"),
        rbac("ClusterRole", name, { rules: [rule] }),
      );
      assert.equal(at(wide, "metadata.namespace"), undefined);
    },
  ],
  [
    "[KC46] bindings name their subjects in full",
    async (target) => {
      const subjects = [
        { kind: "ServiceAccount", name: "a", namespace: target.namespace },
        { kind: "User", name: "u" },
      ];
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" };
      const made = await target.create(
        target.path("rolebindings"),
        rbac("RoleBinding", "a", { subjects, roleRef }),
      );
      assert.deepEqual(pick(made, "subjects", "roleRef"), {
        subjects: [
          { kind: "ServiceAccount", name: "a", namespace: target.namespace },
          { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
        ],
        roleRef,
      });
    },
  ],
  [
    "[KC46] the role of a binding cannot change",
    async (target) => {
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" };
      await target.create(target.path("rolebindings"), rbac("RoleBinding", "a", { roleRef }));
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "roleRef", reason: "FieldValueInvalid" }],
          message: /field is immutable/,
        },
        "PATCH",
        target.path("rolebindings", "a"),
        { roleRef: { name: "b" } },
        { patch: "merge" },
      );
    },
  ],
  [
    "[KC46] a rule needs verbs",
    async (target) => {
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "rules[0].verbs", reason: "FieldValueRequired" }],
        },
        "POST",
        target.path("roles"),
        rbac("Role", "a", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] }),
      );
    },
  ],
  [
    "[KC46] a cluster role binding binds a cluster role",
    async (target) => {
      const name = target.unique("binding");
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "a" };
      await target.refused(
        {
          status: 422,
          reason: "Invalid",
          causes: [{ field: "roleRef.kind", reason: "FieldValueNotSupported" }],
        },
        "POST",
        target.path("clusterrolebindings"),
        rbac("ClusterRoleBinding", name, { roleRef }),
      );
    },
  ],
]);
