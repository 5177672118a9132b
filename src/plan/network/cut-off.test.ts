// When a status tells enough to shut anybody out.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus } from "../../model/database-status.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { cutOff } from "./cut-off.ts";

const whole = {
  client: { database_status: { available: true, healthy: true } },
  cluster: { processes: {}, clients: { count: 0, supported_versions: [] } },
} as unknown as DatabaseStatus;

function messageWith(status: DatabaseStatus, configured = true): string | undefined {
  const spec = {
    version: "7.3.63",
    networkPolicy: { enabled: true, despite: ["ConnectedClients"] },
  };
  const metadata = { name: "sample", namespace: "default" };
  const snapshot = {
    cluster: { metadata, spec, status: { configured } },
    ...{ pods: new Map(), options: {}, database: { kind: "seen", status, observedMs: 0 } },
  };
  return cutOff(snapshot as unknown as Snapshot, { groups: [] } as unknown as Draft)?.message;
}

test("[NET14] nobody is shut out by a status that leaves out who is there, whatever was accepted", () => {
  assert.equal(messageWith(whole), undefined);
  const [client, cluster] = [whole.client ?? {}, whole.cluster ?? {}];
  const { processes: _, ...without } = cluster;
  const down = { ...client, database_status: { available: false, healthy: false } };
  const partial: readonly DatabaseStatus[] = [
    { ...whole, cluster: without },
    { ...whole, client: down },
    { ...whole, unreadable: ["cluster"] },
    { ...whole, unreadable: ["cluster.processes.p1"] },
    { ...whole, unreadable: ["cluster.processes.p1.address"] },
    { ...whole, unreadable: ["cluster.clients.supported_versions[0]"] },
  ];
  for (const status of partial) {
    assert.match(messageWith(status) ?? "", /does not tell all who are part of it/);
  }
  const [down0] = partial;
  assert.equal(messageWith(down0 ?? {}, false), undefined, "nothing is there yet");
  for (const path of ["cluster.processes.p1.roles[0].role", "cluster.qos"]) {
    assert.equal(messageWith({ ...whole, unreadable: [path] }), undefined, path);
  }
});
