// Which specs with TLS name certificates, as a table.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterSpec } from "./cluster-spec.ts";
import { validateDocument } from "./validate-document.ts";
import { certificateProblems, newTlsProblems } from "./validate-tls.ts";

const env = ["FDB_TLS_CERTIFICATE_FILE", "FDB_TLS_KEY_FILE"].map((name) => ({ name, value: "/c" }));

function main(container: object): ClusterSpec["processes"] {
  const containers = [{ name: "foundationdb", ...container }];
  return { general: { podTemplate: { spec: { containers } } } };
}

function specOf(processes: ClusterSpec["processes"], enableTls = true): ClusterSpec {
  return { version: "7.3.69", mainContainer: { enableTls }, processes };
}

test("[API42] TLS needs a certificate and a key that something names", () => {
  const named = [
    main({ env }),
    main({ envFrom: [{ secretRef: { name: "tls" } }] }),
    main({ volumeMounts: [{ name: "tls", mountPath: "/etc/foundationdb" }] }),
    { general: { customParameters: ["tls_certificate_file=/c", "tls-key-file=/k"] } },
  ];
  for (const processes of named) {
    assert.deepEqual(certificateProblems(specOf(processes)), [], JSON.stringify(processes));
  }
  const sidecar = {
    general: { podTemplate: { spec: { containers: [{ name: "other", env }] } } },
  };
  const unnamed = [{}, main({}), main({ env: env.slice(0, 1) }), sidecar];
  for (const processes of unnamed) {
    const [found] = certificateProblems(specOf(processes));
    assert.deepEqual([found?.field, found?.value], ["spec.mainContainer.enableTls", true]);
    assert.match(found?.remedy ?? "", /FDB_TLS_KEY_FILE \(docs\/certificates\.md\)$/);
    assert.deepEqual(certificateProblems(specOf(processes, false)), []);
  }
});

test("[API42] each class is asked for itself, and validate says it", () => {
  const spec = specOf({ ...main({ env }), log: { podTemplate: { spec: { containers: [] } } } });
  const [found, ...more] = validateDocument({
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample" },
    spec,
  });
  assert.deepEqual(more, []);
  assert.deepEqual([found?.severity, found?.field], ["error", "spec.mainContainer.enableTls"]);
  assert.match(
    found?.message ?? "",
    /^processes of class log have no TLS certificate and no key, so they/,
  );
});

test("[API42] what one class has and another one lacks is asked for", () => {
  const other = { podTemplate: { spec: { containers: [] } } };
  const spec = specOf({ ...main({ env: env.slice(0, 1) }), log: other });
  const [found] = certificateProblems(spec);
  assert.match(found?.message ?? "", /have no TLS certificate and no key, so they/);
  assert.match(found?.remedy ?? "", /FDB_TLS_CERTIFICATE_FILE and FDB_TLS_KEY_FILE/);
});

test("[API43] who speaks TLS already is not asked", () => {
  const spec = specOf({});
  assert.equal(newTlsProblems({ spec, status: { requiredAddresses: { nonTLS: true } } }).length, 1);
  assert.deepEqual(newTlsProblems({ spec, status: { requiredAddresses: { tls: true } } }), []);
  assert.deepEqual(
    newTlsProblems({ spec, status: { connectionString: "a:b@1.2.3.4:4500:tls" } }),
    [],
  );
});
