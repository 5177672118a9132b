// Tests of the background reader of sidecars.
import { PlanMemory } from "../plan/view/plan-memory.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { PodRequest, PodResponse } from "../pod/network.ts";
import { PodUnreachableError } from "../pod/network.ts";
import { VirtualClock } from "../env/virtual-clock.ts";
import { SidecarReader } from "./sidecar-reader.ts";

const question = { podName: "a", run: "u1 10.0.0.1 c1", host: "10.0.0.1", useTls: false };

function bench(answer: (request: PodRequest) => PodResponse): {
  clock: VirtualClock;
  reader: SidecarReader;
  requests: PodRequest[];
} {
  const clock = new VirtualClock(0);
  const requests: PodRequest[] = [];
  const reader = new SidecarReader({
    clock,
    timeoutMs: 5_000,
    minimumIntervalMs: 500,
    onAnswer: () => {},
    network: {
      request: async (request) => {
        requests.push(request);
        return answer(request);
      },
    },
  });
  return { clock, reader, requests };
}

function answered({ path }: PodRequest): PodResponse {
  if (path === "substitutions") return { status: 200, body: '{"FDB_ZONE_ID":"z1"}' };
  if (path === "check_hash/fdb.cluster") return { status: 200, body: "abc\n" };
  return { status: 404, body: "" };
}

test("[P31] an answer holds substitutions and the hashes of the files that are there", async () => {
  const { clock, reader, requests } = bench(answered);
  reader.ask([question]);
  await clock.advance(1);
  assert.deepEqual(reader.observations().get("a"), {
    kind: "answered",
    substitutions: { FDB_ZONE_ID: "z1" },
    fileHashes: { "fdb.cluster": "abc", "fdbmonitor.conf": undefined },
  });
  assert.deepEqual(
    requests.map((request) => `${request.method} ${request.host}:${request.port}/${request.path}`),
    [
      "GET 10.0.0.1:8080/substitutions",
      "GET 10.0.0.1:8080/check_hash/fdb.cluster",
      "GET 10.0.0.1:8080/check_hash/fdbmonitor.conf",
    ],
  );
});

test("[U26] a sidecar that is asked for files says which of them it has", async () => {
  const { clock, reader } = bench((request) =>
    request.path === "is_present/bin/7.3.63/fdbserver"
      ? { status: 200, body: "OK" }
      : answered(request),
  );
  const files = ["bin/7.3.63/fdbserver", "bin/7.3.99/fdbserver"];
  reader.ask([{ ...question, files }]);
  await clock.advance(1);
  const found = reader.observations().get("a");
  assert.ok(found?.kind === "answered");
  assert.deepEqual(found.presentFiles, ["bin/7.3.63/fdbserver"]);
});

test("[OP14] a pod is asked at most twice a second, its successor at once", async () => {
  const { clock, reader, requests } = bench(answered);
  reader.ask([question]);
  await clock.advance(100);
  reader.ask([question]);
  assert.equal(requests.length, 3);
  reader.ask([{ ...question, run: "u2 10.0.0.2 c2" }]);
  assert.equal(requests.length, 6);
  await clock.advance(600);
  reader.ask([{ ...question, run: "u2 10.0.0.2 c2" }]);
  assert.equal(requests.length, 9);
});

test("[OP15] silence and nonsense are observations too", async () => {
  const silent = bench(() => {
    throw new PodUnreachableError("nobody answers");
  });
  silent.reader.ask([question]);
  await silent.clock.advance(1);
  assert.deepEqual(silent.reader.observations().get("a"), {
    kind: "unreachable",
    message: "nobody answers",
  });
  const odd = bench(() => ({ status: 200, body: "<html>" }));
  odd.reader.ask([question]);
  await odd.clock.advance(1);
  assert.equal(odd.reader.observations().get("a")?.kind, "unreachable");
});

test("[OP16] hashes from before a copy are marked, substitutions stay", async () => {
  const { clock, reader } = bench(answered);
  reader.ask([question]);
  await clock.advance(1);
  reader.noteCopied("a");
  const noted = reader.observations().get("a");
  assert.equal(noted?.kind === "answered" && noted.isBeforeCopy, true);
  assert.deepEqual(noted?.kind === "answered" && noted.substitutions, { FDB_ZONE_ID: "z1" });
  await clock.advance(600);
  reader.ask([question]);
  await clock.advance(1);
  const fresh = reader.observations().get("a");
  assert.equal(fresh?.kind === "answered" && fresh.isBeforeCopy, undefined);
});

function podOf(uid: string, podIP: string, containerID: string): Map<string, Stored<Pod>> {
  const status = { name: "foundationdb-kubernetes-sidecar", containerID, ready: true };
  const pod = { metadata: { name: "a", uid }, status: { podIP, containerStatuses: [status] } };
  return new Map([["a", pod as unknown as Stored<Pod>]]);
}

test("[OP14] what a sidecar said is forgotten with its pod, its address and its run", async () => {
  const { clock, reader } = bench(answered);
  reader.ask([question]);
  await clock.advance(1);
  reader.keepOnly({ pods: podOf("u1", "10.0.0.1", "c1"), memory: new PlanMemory() });
  assert.equal(reader.observations().size, 1);
  const others = [
    podOf("u2", "10.0.0.1", "c1"),
    podOf("u1", "10.0.0.2", "c1"),
    podOf("u1", "10.0.0.1", "c2"),
    new Map<string, Stored<Pod>>(),
  ];
  for (const other of others) {
    await clock.advance(600);
    reader.ask([question]);
    await clock.advance(1);
    reader.keepOnly({ pods: other, memory: new PlanMemory() });
    assert.equal(reader.observations().size, 0);
  }
});
