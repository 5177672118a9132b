// The Lease among many requests that hang.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { openConnections } from "./connections.ts";

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/db/leases/operator";

test("[KUBE113] requests for the Lease wait for no others, however many of them hang", async () => {
  let hanging = 0;
  const enough = Promise.withResolvers<void>();
  const server = createServer((request, answer) => {
    if (request.url === leasePath) {
      return answer.setHeader("content-type", "application/json").end('{"kind":"Lease"}');
    }
    hanging += 1;
    return hanging === 100 ? enough.resolve() : undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const connections = openConnections({ server: `http://127.0.0.1:${port}` }, {});
  const ending = new AbortController();
  const pods = Array.from({ length: 200 }, () =>
    connections.transport
      .request({ method: "POST", path: "/api/v1/pods", signal: ending.signal })
      .catch((error: unknown) => error),
  );
  await enough.promise;
  const { body } = await connections.leaseTransport.request({ method: "GET", path: leasePath });
  assert.deepEqual(body, { kind: "Lease" });
  assert.equal(hanging, 100);
  ending.abort();
  await Promise.all(pods);
  connections.close();
  server.closeAllConnections();
  server.close();
});
