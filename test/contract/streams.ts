// Streams into pods, as far as no node is needed: what the server refuses before it asks one.
import assert from "node:assert/strict";
import { isKubeError } from "../../src/kube/error.ts";
import { capability } from "./case.ts";
import { pod } from "./samples.ts";
import type { Target } from "./target.ts";

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
]);
