// The status subresource: spec and status are written through different doors.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { deployment, pod } from "./samples.ts";
import { asList, at, jsonOf, pick, text } from "./target.ts";
import type { Json, Target } from "./target.ts";
import { installWidgets } from "./widget.ts";
import type { WidgetKind } from "./widget.ts";

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function withStatus(target: Target): Promise<WidgetKind> {
  return installWidgets(target, { spec: open, status: open }, { subresources: { status: {} } });
}

function condition(type: string, status: string): Json {
  return { status: { conditions: [{ type, status }] } };
}

export const statusCases = capability("status subresource", [
  [
    "[KC15] a status given at creation is dropped",
    async (target) => {
      const kind = await withStatus(target);
      const made = await target.create(
        kind.path,
        kind.widget("a", { spec: { x: 1 }, status: { y: 1 } }),
      );
      assert.deepEqual(pick(made, "spec", "status", "metadata.generation"), {
        spec: { x: 1 },
        status: undefined,
        "metadata.generation": 1,
      });
    },
  ],
  [
    "[KC15] a write to the status changes neither spec nor generation",
    async (target) => {
      const kind = await withStatus(target);
      const made = await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      const metadata = { ...jsonOf(made["metadata"]), labels: { l: "1" } };
      const changed = await target.replace(kind.at("a", "status"), {
        ...made,
        metadata,
        spec: { x: 2 },
        status: { y: 1 },
      });
      assert.deepEqual(pick(changed, "spec", "status", "metadata.generation", "metadata.labels"), {
        spec: { x: 1 },
        status: { y: 1 },
        "metadata.generation": 1,
        "metadata.labels": undefined,
      });
    },
  ],
  [
    "[KC15] a write to the object changes spec and generation and keeps the status",
    async (target) => {
      const kind = await withStatus(target);
      await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      await target.patch("merge", kind.at("a", "status"), { status: { y: 1 } });
      const changed = await target.patch("merge", kind.at("a"), {
        spec: { x: 2 },
        status: { y: 2 },
      });
      assert.deepEqual(pick(changed, "spec", "status", "metadata.generation"), {
        spec: { x: 2 },
        status: { y: 1 },
        "metadata.generation": 2,
      });
    },
  ],
  [
    "[KC15] the subresource can be read and shows the whole object",
    async (target) => {
      const kind = await withStatus(target);
      await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      const read = await target.get(kind.at("a", "status"));
      assert.deepEqual(pick(read, "kind", "spec"), { kind: "Widget", spec: { x: 1 } });
    },
  ],
  [
    "[KC15] a stale status write is a conflict",
    async (target) => {
      const kind = await withStatus(target);
      const made = await target.create(kind.path, kind.widget("a", { spec: { x: 1 } }));
      await target.patch("merge", kind.at("a"), { metadata: { labels: { l: "1" } } });
      await target.refused({ status: 409, reason: "Conflict" }, "PUT", kind.at("a", "status"), {
        ...made,
        status: { y: 1 },
      });
    },
  ],
  [
    "[KC15] without the subresource the status is an ordinary field",
    async (target) => {
      const kind = await installWidgets(target, { spec: open, status: open });
      const made = await target.create(kind.path, kind.widget("a", { status: { y: 1 } }));
      assert.deepEqual(made["status"], { y: 1 });
      const changed = await target.patch("merge", kind.at("a"), { status: { y: 2 } });
      assert.deepEqual(pick(changed, "status", "metadata.generation"), {
        status: { y: 2 },
        "metadata.generation": 2,
      });
      const response = await target.send("GET", kind.at("a", "status"));
      assert.equal(response.status, 404);
    },
  ],
  [
    "[KC15] a pod's status is written by its subresource only",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const untouched = await target.patch("merge", target.path("pods", "a"), {
        status: { phase: "Running" },
      });
      assert.equal(at(untouched, "status.phase"), "Pending");
      const running = await target.patch("strategic", target.path("pods", "a", "status"), {
        status: { phase: "Running", podIP: "10.1.1.1" },
      });
      assert.deepEqual(pick(running, "status.phase", "status.podIP", "status.podIPs"), {
        "status.phase": "Running",
        "status.podIP": "10.1.1.1",
        "status.podIPs": [{ ip: "10.1.1.1" }],
      });
    },
  ],
  [
    "[KC15] conditions of a pod are merged by their type",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const path = target.path("pods", "a", "status");
      await target.patch("strategic", path, condition("Ready", "False"));
      await target.patch("strategic", path, condition("Initialized", "True"));
      const last = await target.patch("strategic", path, condition("Ready", "True"));
      const conditions = asList(at(last, "status.conditions"));
      assert.deepEqual(
        new Set(conditions.map((each) => `${text(each, "type")}=${text(each, "status")}`)),
        new Set(["Initialized=True", "Ready=True"]),
      );
    },
  ],
  [
    "[KC15] a deployment's scale is read and written through its subresource",
    async (target) => {
      await target.create(target.path("deployments"), deployment("a", { replicas: 0 }));
      const scale = await target.get(target.path("deployments", "a", "scale"));
      assert.deepEqual(pick(scale, "kind", "apiVersion", "spec"), {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        spec: {},
      });
      await target.patch("merge", target.path("deployments", "a", "scale"), {
        spec: { replicas: 1 },
      });
      const scaled = await target.get(target.path("deployments", "a"));
      assert.equal(at(scaled, "spec.replicas"), 1);
    },
  ],
]);
