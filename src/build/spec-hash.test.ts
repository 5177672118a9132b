// JSON as Go writes it, and hashes over it.
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { goJsonOf, goJsonOfTexts, goText } from "./go-json.ts";
import { deploymentSpecHash, podSpecHash, textsHash, volumeClaimSpecHash } from "./spec-hash.ts";

test("[B1] fields come in the order of the Go structs, and unknown ones are dropped", () => {
  const spec = {
    nodeSelector: { b: "2", a: "1" },
    surprise: true,
    containers: [{ image: "i", name: "n", env: [{ value: "v", name: "e" }] }],
    volumes: [{ emptyDir: {}, name: "v" }],
  };
  assert.equal(
    goJsonOf("PodSpec", spec),
    '{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"n","image":"i",' +
      '"env":[{"name":"e","value":"v"}],"resources":{}}],"nodeSelector":{"a":"1","b":"2"}}',
  );
  assert.throws(() => goJsonOf("NoSuchType", {}));
});

test("[B2] Go's rules decide what is left out", () => {
  const written = (type: string, value: unknown): string => goJsonOf(type, value);
  assert.equal(written("EnvVar", { name: "e", value: "", valueFrom: null }), '{"name":"e"}');
  assert.equal(written("ContainerPort", {}), '{"containerPort":0}');
  assert.equal(
    written("SecurityContext", { privileged: false, runAsUser: 0 }),
    '{"privileged":false,"runAsUser":0}',
  );
  assert.equal(written("PodSpec", {}), '{"containers":null}');
  assert.equal(written("PodSpec", { containers: [], hostNetwork: false }), '{"containers":[]}');
  assert.equal(written("GRPCAction", { port: 1 }), '{"port":1,"service":null}');
  assert.equal(written("TCPSocketAction", {}), '{"port":0}');
  assert.equal(written("TCPSocketAction", { port: "http" }), '{"port":"http"}');
  assert.equal(written("ObjectMeta", { creationTimestamp: null }), "{}");
  assert.equal(
    written("ObjectMeta", { creationTimestamp: "2026-01-02T03:04:05.6Z" }),
    '{"creationTimestamp":"2026-01-02T03:04:05Z"}',
  );
});

test("[B3] characters that mean something in HTML are escaped", () => {
  assert.equal(goText('a<b>&"\u2028\n'), String.raw`"a\u003cb\u003e\u0026\"\u2028\n"`);
  assert.equal(goText("ü\u0001"), String.raw`"ü\u0001"`);
});

test("[B4] quantities are written canonically", () => {
  const resources = { requests: { memory: "2048Mi", cpu: 0.5 }, limits: { cpu: "1000m" } };
  assert.equal(
    goJsonOf("ResourceRequirements", resources),
    '{"limits":{"cpu":"1"},"requests":{"cpu":"500m","memory":"2Gi"}}',
  );
});

test("[B5] a hash ends with a line break and has known values", () => {
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "128G" } } };
  assert.equal(
    volumeClaimSpecHash(claim),
    "f0c8a45ea6c3dd26c2dc2b5f3c699f38d613dab273d0f8a6eae6abd9a9569063",
  );
  assert.equal(textsHash({}), createHash("sha256").update("{}\n").digest("hex"));
  assert.match(deploymentSpecHash({ selector: {}, template: {} }), /^[0-9a-f]{64}$/);
});

test("[B6] the order of keys changes no hash", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true }),
      (labels) => {
        const reversed = Object.fromEntries(Object.entries(labels).toReversed());
        assert.equal(goJsonOfTexts(labels), goJsonOfTexts(reversed));
        assert.equal(
          podSpecHash({ nodeSelector: labels, containers: [] }),
          podSpecHash({ containers: [], nodeSelector: reversed }),
        );
      },
    ),
    { seed: 1, numRuns: 100 },
  );
});
