// Pods: the defaults that the server fills in, and what may change later.
import assert from "node:assert/strict";
import { capability } from "./case.ts";
import { pod } from "./samples.ts";
import { at, normal, pick } from "./target.ts";
import type { Json } from "./target.ts";

function container(resources: Json): Json {
  return { containers: [{ name: "main", image: "i:1", resources }] };
}

export const podCases = capability(
  "Pod",
  [
    [
      "[KC35] a minimal pod gets all its defaults",
      async (target) => {
        const made = await target.create(target.path("pods"), pod("a"));
        assert.deepEqual(normal(made["spec"]), {
          containers: [
            {
              name: "main",
              image: "example/image:1",
              resources: {},
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              imagePullPolicy: "IfNotPresent",
            },
          ],
          restartPolicy: "Always",
          terminationGracePeriodSeconds: 30,
          dnsPolicy: "ClusterFirst",
          serviceAccountName: "default",
          serviceAccount: "default",
          automountServiceAccountToken: false,
          securityContext: {},
          schedulerName: "default-scheduler",
          tolerations: [
            {
              key: "node.kubernetes.io/not-ready",
              operator: "Exists",
              effect: "NoExecute",
              tolerationSeconds: 300,
            },
            {
              key: "node.kubernetes.io/unreachable",
              operator: "Exists",
              effect: "NoExecute",
              tolerationSeconds: 300,
            },
          ],
          priority: 0,
          enableServiceLinks: true,
          preemptionPolicy: "PreemptLowerPriority",
        });
        assert.deepEqual(made["status"], { phase: "Pending", qosClass: "BestEffort" });
      },
    ],
    [
      "[KC35] limits become requests and decide the quality of service",
      async (target) => {
        const limits = { cpu: "1", memory: "1Gi" };
        const guaranteed = await target.create(
          target.path("pods"),
          pod("a", container({ limits })),
        );
        assert.deepEqual(pick(guaranteed, "spec.containers.0.resources", "status.qosClass"), {
          "spec.containers.0.resources": { limits, requests: limits },
          "status.qosClass": "Guaranteed",
        });
        const requests = { cpu: "500m" };
        const burstable = await target.create(
          target.path("pods"),
          pod("b", container({ requests })),
        );
        assert.equal(at(burstable, "status.qosClass"), "Burstable");
      },
    ],
    [
      "[KC35] an image without a version is always pulled",
      async (target) => {
        const policies = [];
        for (const [index, image] of [
          "i",
          "i:latest",
          "i:7.1",
          "i@sha256:" + "0".repeat(64),
        ].entries()) {
          const containers = [{ name: "main", image }];
          const made = await target.create(target.path("pods"), pod(`a${index}`, { containers }));
          policies.push(at(made, "spec.containers.0.imagePullPolicy"));
        }
        assert.deepEqual(policies, ["Always", "Always", "IfNotPresent", "IfNotPresent"]);
      },
    ],
    [
      "[KC35] probes, ports and volumes get their defaults",
      async (target) => {
        const made = await target.create(
          target.path("pods"),
          pod("a", {
            containers: [
              {
                name: "main",
                image: "i:1",
                ports: [{ containerPort: 4501 }],
                readinessProbe: { httpGet: { path: "/ready", port: 8080 } },
                env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
              },
            ],
            volumes: [
              { name: "config", configMap: { name: "c" } },
              { name: "dir", emptyDir: {} },
              { name: "secret", secret: { secretName: "s" } },
            ],
          }),
        );
        assert.deepEqual(pick(at(made, "spec.containers.0"), "ports", "readinessProbe", "env"), {
          ports: [{ containerPort: 4501, protocol: "TCP" }],
          readinessProbe: {
            httpGet: { path: "/ready", port: 8080, scheme: "HTTP" },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          env: [
            {
              name: "IP",
              valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } },
            },
          ],
        });
        assert.deepEqual(at(made, "spec.volumes"), [
          { name: "config", configMap: { name: "c", defaultMode: 420 } },
          { name: "dir", emptyDir: {} },
          { name: "secret", secret: { secretName: "s", defaultMode: 420 } },
        ]);
      },
    ],
    [
      "[KC35] labels, annotations and an image may change, a new container may not",
      async (target) => {
        await target.create(target.path("pods"), pod("a"));
        const path = target.path("pods", "a");
        const changed = await target.patch("strategic", path, {
          metadata: { labels: { x: "1" }, annotations: { y: "2" } },
          spec: { containers: [{ name: "main", image: "example/image:2" }] },
        });
        assert.deepEqual(pick(changed, "spec.containers.0.image", "metadata.generation"), {
          "spec.containers.0.image": "example/image:2",
          "metadata.generation": 2,
        });
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [{ field: "spec.containers", reason: "FieldValueForbidden" }],
          },
          "PATCH",
          path,
          { spec: { containers: [{ name: "side", image: "example/side:1" }] } },
          { patch: "strategic" },
        );
      },
    ],
    [
      "[KC35] a mount must name a volume of the pod",
      async (target) => {
        const volumeMounts = [{ name: "missing", mountPath: "/x" }];
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [
              {
                field: "spec.containers[0].volumeMounts[0].name",
                reason: "FieldValueNotFound",
                message: 'Not found: "missing"',
              },
            ],
          },
          "POST",
          target.path("pods"),
          pod("a", { containers: [{ name: "main", image: "i:1", volumeMounts }] }),
        );
      },
    ],
    [
      "[KC35] a request may not exceed its limit",
      async (target) => {
        const resources = { requests: { cpu: "2" }, limits: { cpu: "1" } };
        await target.refused(
          {
            status: 422,
            reason: "Invalid",
            causes: [
              { field: "spec.containers[0].resources.requests", reason: "FieldValueInvalid" },
            ],
            message: /must be less than or equal to cpu limit of 1/,
          },
          "POST",
          target.path("pods"),
          pod("a", { containers: [{ name: "main", image: "i:1", resources }] }),
        );
      },
    ],
    [
      "[KC35] quantities are kept in canonical form",
      async (target) => {
        const requests = { cpu: "0.5", memory: "1024Mi", "ephemeral-storage": "1500Mi" };
        const made = await target.create(target.path("pods"), pod("a", container({ requests })));
        assert.deepEqual(at(made, "spec.containers.0.resources.requests"), {
          cpu: "500m",
          memory: "1Gi",
          "ephemeral-storage": "1500Mi",
        });
      },
    ],
    [
      "[KC35] empty and false values are left out, where they mean nothing",
      async (target) => {
        const spec = {
          hostNetwork: false,
          nodeSelector: {},
          volumes: [],
          terminationGracePeriodSeconds: 0,
          shareProcessNamespace: false,
        };
        const made = await target.create(target.path("pods"), pod("a", spec, { labels: {} }));
        assert.deepEqual(pick(made["spec"], ...Object.keys(spec)), {
          hostNetwork: undefined,
          nodeSelector: undefined,
          volumes: undefined,
          terminationGracePeriodSeconds: 0,
          shareProcessNamespace: false,
        });
        assert.equal(at(made, "metadata.labels"), undefined);
      },
    ],
    [
      "[KC35] init containers, security and spread constraints keep their form",
      async (target) => {
        const spec = {
          initContainers: [{ name: "init", image: "i:1", command: ["x"] }],
          securityContext: { fsGroup: 4059, runAsNonRoot: true },
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
          ],
          tolerations: [{ key: "a", operator: "Exists" }],
        };
        const made = await target.create(target.path("pods"), pod("a", spec));
        assert.deepEqual(
          pick(made["spec"], "securityContext", "topologySpreadConstraints", "tolerations.0"),
          {
            securityContext: { fsGroup: 4059, runAsNonRoot: true },
            topologySpreadConstraints: spec.topologySpreadConstraints,
            "tolerations.0": { key: "a", operator: "Exists" },
          },
        );
        assert.deepEqual(at(made, "spec.initContainers"), [
          {
            name: "init",
            image: "i:1",
            command: ["x"],
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "IfNotPresent",
          },
        ]);
      },
    ],
  ],
  "controller-manager",
);
