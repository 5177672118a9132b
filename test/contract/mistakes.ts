// Mistakes in services, deployments, volumes and names, and how the server names them.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import type { Statement } from "./case.ts";
import { claim, configMap, deployment, pod, service, volume } from "./samples.ts";
import { at } from "./target.ts";
import type { Json, Target } from "./target.ts";

const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must " +
  "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** A body that is refused with one cause for each pair of field and message. */
function mistake(
  title: string,
  path: (target: Target) => string,
  body: Json,
  ...causes: [field: string, message: string][]
): Statement {
  return [
    `[KC64] ${title}`,
    async (target) => {
      const { causes: found } = (
        await target.refused({ status: 422, reason: "Invalid" }, "POST", path(target), body)
      )["details"] as { causes: { field: string; message: string }[] };
      assert.deepEqual(
        found.map(({ field, message }) => [field, message]),
        causes,
      );
    },
  ];
}

const services = (target: Target): string => target.path("services");
const ofService = (title: string, spec: Json, ...causes: [string, string][]): Statement =>
  mistake(title, services, service("a", spec), ...causes);
const onPort = (parts: Json): Json => ({ ports: [{ name: "client", port: 4500, ...parts }] });
const unsupported = (value: string, supported: string): string =>
  `Unsupported value: "${value}": supported values: ${supported}`;

export const serviceMistakeCases = capability("Service validation", [
  ofService("a protocol that does not exist", onPort({ protocol: "X" }), [
    "spec.ports[0].protocol",
    unsupported("X", '"SCTP", "TCP", "UDP"'),
  ]),
  ofService("a port name with an underscore", onPort({ name: "X_" }), [
    "spec.ports[0].name",
    `Invalid value: "X_": ${labelRule}`,
  ]),
  ofService("a target port that is no name", onPort({ targetPort: "Up" }), [
    "spec.ports[0].targetPort",
    'Invalid value: "Up": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ]),
  ofService("a target port out of range", onPort({ targetPort: 70000 }), [
    "spec.ports[0].targetPort",
    "Invalid value: 70000: must be between 1 and 65535, inclusive",
  ]),
  ofService("a node port without a type that has some", onPort({ nodePort: 30000 }), [
    "spec.ports[0].nodePort",
    "Forbidden: may not be used when `type` is 'ClusterIP'",
  ]),
  ofService("a node port out of range", { type: "NodePort", ...onPort({ nodePort: 80 }) }, [
    "spec.ports[0].nodePort",
    "Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
  ]),
  ofService("an address that is none", { clusterIP: "abc" }, [
    "spec.clusterIPs[0]",
    'Invalid value: "abc": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]),
  ofService("an address with leading zeros", { clusterIP: "10.0.0.01" }, [
    "spec.clusterIPs[0]",
    'Invalid value: "10.0.0.01": must not have leading 0s',
  ]),
  ofService("an address out of range", { clusterIP: "192.168.1.1" }, [
    "spec.clusterIPs",
    'Invalid value: ["192.168.1.1"]: failed to allocate IP 192.168.1.1: the provided network does not match the current range',
  ]),
  ofService(
    "an address and a list that differ",
    { clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.8"] },
    ["spec.clusterIPs", 'Invalid value: ["10.0.0.8"]: first value must match `clusterIP`'],
  ),
  ofService("no address for a service with node ports", { type: "NodePort", clusterIP: "None" }, [
    "spec.clusterIPs[0]",
    "Invalid value: \"None\": may not be set to 'None' for NodePort services",
  ]),
  ofService("an affinity that does not exist", { sessionAffinity: "X" }, [
    "spec.sessionAffinity",
    unsupported("X", '"ClientIP", "None"'),
  ]),
  ofService("a family that does not exist", { ipFamilies: ["X"] }, [
    "spec.ipFamilies[0]",
    unsupported("X", '"IPv4", "IPv6"'),
  ]),
  ofService("a traffic policy without traffic from outside", { externalTrafficPolicy: "Local" }, [
    "spec.externalTrafficPolicy",
    'Invalid value: "Local": may only be set for externally-accessible services',
  ]),
  ofService("an external name with a capital", { type: "ExternalName", externalName: "A_" }, [
    "spec.externalName",
    `Invalid value: "A_": ${subdomainRule}`,
  ]),
  mistake("a service name with a dot", services, service("a.b"), [
    "metadata.name",
    'Invalid value: "a.b": must not contain dots',
  ]),
  [
    "[KC64] an address of another service is refused",
    async (target) => {
      const headless = { clusterIP: "None" };
      await target.create(services(target), service("h1", headless));
      await target.create(services(target), service("h2", headless));
      const made = await target.create(services(target), service("a"));
      const address = String(at(made, "spec.clusterIP"));
      const message = `spec.clusterIPs: Invalid value: ["${address}"]: failed to allocate IP ${address}: provided IP is already allocated`;
      await target.refused(
        { status: 422, reason: "Invalid", message: `Service "b" is invalid: ${message}` },
        "POST",
        services(target),
        service("b", { clusterIP: address }),
      );
    },
  ],
  [
    "[KC64] a service name may start with a digit, and target port 0 means the port",
    async (target) => {
      const made = await target.create(services(target), service("9a", onPort({ targetPort: 0 })));
      assert.equal(at(made, "spec.ports.0.targetPort"), 4500);
    },
  ],
]);

const deployments = (target: Target): string => target.path("deployments");
const ofRollingUpdate = (title: string, rollingUpdate: Json, field: string, message: string) =>
  mistake(title, deployments, deployment("a", { strategy: { rollingUpdate } }), [
    `spec.strategy.rollingUpdate.${field}`,
    message,
  ]);

export const deploymentMistakeCases = capability("Deployment validation", [
  [
    "[KC64] a strategy that does not exist",
    async (target) => {
      const body = deployment("a", { strategy: { type: "X" } });
      const refusal = { status: 422, reason: "Invalid" };
      const found = await target.refused(refusal, "POST", deployments(target), body);
      assert.equal(at(found, "details.causes.0.field"), "spec.strategy");
      assert.match(
        String(at(found, "details.causes.0.message")),
        /supported values: "Recreate", "RollingUpdate"$/,
      );
    },
  ],
  mistake(
    "parameters of a strategy that was not chosen",
    deployments,
    deployment("a", { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
    [
      "spec.strategy.rollingUpdate",
      "Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
  ),
  ofRollingUpdate(
    "neither more nor fewer pods",
    { maxSurge: 0, maxUnavailable: "0%" },
    "maxUnavailable",
    'Invalid value: "0%": may not be 0 when `maxSurge` is 0',
  ),
  ofRollingUpdate(
    "more than all pods",
    { maxUnavailable: "120%" },
    "maxUnavailable",
    'Invalid value: "120%": must not be greater than 100%',
  ),
  ofRollingUpdate(
    "a number of pods that is none",
    { maxSurge: "x" },
    "maxSurge",
    "Invalid value: \"x\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
  ),
  mistake(
    "times below zero, all at once",
    deployments,
    deployment("a", { minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -5 }),
    ["spec.minReadySeconds", "Invalid value: -1: must be greater than or equal to 0"],
    ["spec.revisionHistoryLimit", "Invalid value: -1: must be greater than or equal to 0"],
    ["spec.progressDeadlineSeconds", "Invalid value: -5: must be greater than or equal to 0"],
    ["spec.progressDeadlineSeconds", "Invalid value: -5: must be greater than minReadySeconds"],
  ),
]);

const claims = (target: Target): string => target.path("persistentvolumeclaims");
const configMaps = (target: Target): string => target.path("configmaps");
const pods = (target: Target): string => target.path("pods");
const long = (length: number): string => "a".repeat(length);

export const otherMistakeCases = capability("names and values", [
  mistake("a storage class that is no name", claims, claim("a", { storageClassName: "X_" }), [
    "spec.storageClassName",
    `Invalid value: "X_": ${subdomainRule}`,
  ]),
  mistake("a volume mode that does not exist", claims, claim("a", { volumeMode: "X" }), [
    "spec.volumeMode",
    unsupported("X", '"Block", "Filesystem"'),
  ]),
  [
    "[KC64] a reclaim policy that does not exist",
    async (target) => {
      const body = volume(target.unique("v"), { persistentVolumeReclaimPolicy: "X" });
      const causes = [
        {
          field: "spec.persistentVolumeReclaimPolicy",
          reason: "FieldValueNotSupported",
          message: unsupported("X", '"Delete", "Recycle", "Retain"'),
        },
      ];
      const refusal = { status: 422, reason: "Invalid", causes };
      await target.refused(refusal, "POST", target.path("persistentvolumes"), body);
    },
  ],
  mistake("a name that is too long", configMaps, configMap(long(254)), [
    "metadata.name",
    `Invalid value: "${long(254)}": must be no more than 253 characters`,
  ]),
  mistake(
    "a label prefix that is too long",
    configMaps,
    configMap("a", {}, { labels: { [`${long(254)}/a`]: "b" } }),
    [
      "metadata.labels",
      `Invalid value: "${long(254)}/a": prefix part must be no more than 253 bytes`,
    ],
  ),
  mistake("a host name with a dot", pods, pod("a", { hostname: "a.b" }), [
    "spec.hostname",
    'Invalid value: "a.b": must not contain dots',
  ]),
  mistake("a subdomain with a capital", pods, pod("a", { subdomain: "A" }), [
    "spec.subdomain",
    `Invalid value: "A": ${labelRule}`,
  ]),
  [
    "[KC64] a negative grace period becomes the shortest one",
    async (target) => {
      const made = await target.create(
        pods(target),
        pod("a", { terminationGracePeriodSeconds: -1 }),
      );
      assert.equal(at(made, "spec.terminationGracePeriodSeconds"), 1);
    },
  ],
]);
