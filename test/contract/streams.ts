// Streams into pods, as far as no node is needed: what the server refuses before it asks one.
import assert from "node:assert/strict";
import { isKubeError } from "../../src/kube/error.ts";
import { capability } from "./case.ts";
import { node, pod } from "./samples.ts";
import type { Refusal, Target } from "./target.ts";

const kinds = ["exec", "attach", "portforward"] as const;
const query = { stdout: "true", command: "ls" };

/** A command over a WebSocket, where the server is reached over a network. */
async function refusedExec(target: Target, name: string, container = "main"): Promise<unknown> {
  const { namespace, pods } = target;
  const asked = { namespace, pod: name, container, command: ["ls"], timeoutMs: 20_000 };
  const error: unknown = await pods.run(asked).catch((reason: unknown) => reason);
  return isKubeError(error) ? [error.status, error.reason, error.message] : error;
}

export const streamCases = capability("streams into pods", [
  [
    "[KC65] a pod that is missing",
    async (target) => {
      const message = 'pods "a" not found';
      for (const kind of kinds) {
        const refusal = { status: 404, reason: "NotFound", message };
        for (const method of ["GET", "POST"] as const) {
          await target.refused(refusal, method, target.path("pods", "a", kind), undefined, {
            query,
          });
        }
      }
      assert.deepEqual(await refusedExec(target, "a"), [404, "NotFound", message]);
    },
  ],
  [
    "[KC65] a pod that is on no node",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const message = "pod a does not have a host assigned";
      for (const kind of kinds) {
        const refusal = { status: 400, reason: "BadRequest", message };
        await target.refused(refusal, "GET", target.path("pods", "a", kind), undefined, { query });
      }
      assert.deepEqual(await refusedExec(target, "a"), [400, "BadRequest", message]);
    },
  ],
  [
    "[KC65] a container that the pod does not have",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const message = "container x is not valid for pod a";
      const asked = { query: { ...query, container: "x" } };
      for (const kind of ["exec", "attach", "log"] as const) {
        const refusal = { status: 400, reason: "BadRequest", message };
        await target.refused(refusal, "GET", target.path("pods", "a", kind), undefined, asked);
      }
      assert.deepEqual(await refusedExec(target, "a", "x"), [400, "BadRequest", message]);
    },
  ],
  [
    "[KC65] no container of several",
    async (target) => {
      const containers = ["one", "two"].map((name) => ({ name, image: "i:1" }));
      await target.create(target.path("pods"), pod("a", { containers }));
      const message = "a container name must be specified for pod a, choose one of: [one two]";
      for (const kind of ["exec", "attach", "log"] as const) {
        const refusal = { status: 400, reason: "BadRequest", message };
        await target.refused(refusal, "GET", target.path("pods", "a", kind), undefined, { query });
      }
    },
  ],
  [
    "[KC65] an init container is one of several, too",
    async (target) => {
      const containers = ["one", "two"].map((name) => ({ name, image: "i:1" }));
      const initContainers = [{ name: "zero", image: "i:1" }];
      await target.create(target.path("pods"), pod("a", { containers, initContainers }));
      const message = "a container name must be specified for pod a, choose one of: [zero one two]";
      for (const kind of ["exec", "attach", "log"] as const) {
        const refusal = { status: 400, reason: "BadRequest", message };
        await target.refused(refusal, "GET", target.path("pods", "a", kind), undefined, { query });
      }
      const host = "pod a does not have a host assigned";
      assert.deepEqual(await refusedExec(target, "a", "zero"), [400, "BadRequest", host]);
    },
  ],
  [
    "[KC65] a request without upgrade, and other methods",
    async (target) => {
      const name = target.unique("node");
      await target.create(target.path("nodes"), node(name));
      const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
      const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 9 } } };
      await target.patch("merge", target.path("nodes", name, "status"), { status });
      await target.create(target.path("pods"), pod("a", { nodeName: name }));
      const plain = { status: 400, reason: "BadRequest", message: "Upgrade request required" };
      const message = "the server does not allow this method on the requested resource";
      const other = { status: 405, reason: "MethodNotAllowed", message };
      for (const kind of kinds) {
        const path = target.path("pods", "a", kind);
        for (const method of ["GET", "POST"] as const) {
          await target.refused(plain, method, path, undefined, { query });
        }
        for (const method of ["PUT", "PATCH", "DELETE"] as const) {
          await target.refused(other, method, path, undefined, { query });
        }
      }
      await target.refused(other, "POST", target.path("pods", "a", "log"));
    },
  ],
  [
    "[KC65] options of a log, which are looked at before the pod",
    async (target) => {
      const path = target.path("pods", "a", "log");
      const refusals: [Record<string, string>, Refusal][] = [
        [
          { tailLines: "-1" },
          invalid("tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ],
        [{ sinceSeconds: "0" }, invalid("sinceSeconds: Invalid value: 0: must be greater than 0")],
        [{ limitBytes: "0" }, invalid("limitBytes: Invalid value: 0: must be greater than 0")],
        [
          { limitBytes: "-1", tailLines: "-2" },
          invalid(
            "[tailLines: Invalid value: -2: must be greater than or equal to 0, limitBytes: Invalid value: -1: must be greater than 0]",
          ),
        ],
        [
          { sinceSeconds: "5", sinceTime: "2026-01-01T00:00:00Z" },
          invalid("[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"),
        ],
        [
          { sinceSeconds: "0", sinceTime: "2026-01-01T00:00:00Z" },
          invalid("[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"),
        ],
        [{ tailLines: "many" }, bad(/^strconv\.ParseInt: parsing "many": invalid syntax$/)],
        [{ sinceTime: "noon" }, bad(/^parsing time "noon" as ".*": cannot parse /)],
      ];
      for (const [asked, refusal] of refusals) {
        await target.refused(refusal, "GET", path, undefined, { query: asked });
      }
      await target.refused({ status: 404, reason: "NotFound" }, "GET", path);
    },
  ],
  [
    "[KC65] the log of a pod that is on no node is empty",
    async (target) => {
      await target.create(target.path("pods"), pod("a"));
      const path = target.path("pods", "a", "log");
      const queries: Record<string, string>[] = [{}, { tailLines: "5" }, { previous: "true" }];
      for (const asked of queries) {
        const { status, body } = await target.send("GET", path, undefined, { query: asked });
        assert.deepEqual([status, body], [204, undefined]);
      }
    },
  ],
]);

function invalid(words: string): Refusal {
  const message = `PodLogOptions "a" is invalid: ${words}`;
  return { status: 422, reason: "Invalid", message };
}

function bad(message: RegExp): Refusal {
  return { status: 400, reason: "BadRequest", message };
}
