// A cluster with secrets in all places of its resource that have room for one.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { frugalProcesses, tiny } from "./world-harness.ts";

const environment = [
  { name: "PASSWORD", value: "environment-Secret-3" },
  { name: "MEMORY", value: "8GiB" },
  { name: "SHORT", value: "zq" },
  { name: "DIRECTORY", value: "/var/fdb/data" },
  { name: "STATE", value: "healthy" },
];

const [general] = Object.values(frugalProcesses);
const [main, sidecar] = general?.podTemplate?.spec?.containers ?? [];

export const spoiled: Partial<ClusterSpec> = {
  ...tiny,
  sidecarVariables: ["MEMORY"],
  configMap: { metadata: {}, data: { "extra.conf": "extra-Secret-1" } },
  trustedCAs: ["-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"],
  processes: {
    general: {
      customParameters: ["knob_disable_posix_kernel_aio=1", "tls_password=pw7", "memory=$MEMORY"],
      podTemplate: {
        metadata: { annotations: { "example.com/inject": "inject-Secret-2" } },
        spec: {
          initContainers: [{ name: "foundationdb-kubernetes-init", env: environment }],
          containers: [
            { ...main, name: "foundationdb", env: environment },
            { ...sidecar, name: "foundationdb-kubernetes-sidecar", env: environment },
            {
              name: "exporter",
              image: "example.com/exporter:1",
              args: [
                "--listen=:9000",
                "--dsn=postgres://bob:argument-Secret-4@db/x",
                "positional5",
              ],
              env: [{ name: "TOKEN", value: "exporter-Secret-6" }],
            },
          ],
        },
      },
    },
  },
};
