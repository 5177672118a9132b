// The vectors about the objects of one process group: pod, volume claim, services, ConfigMap, hashes, command lines.
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { imageTypeOf, serversPerPod } from "../../src/api/effective.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import { expectedCommandLine } from "../../src/build/command-line.ts";
import type { Substitutions } from "../../src/build/command-line.ts";
import { configMap, dynamicConfHashOf } from "../../src/build/config-map.ts";
import { goJsonOf } from "../../src/build/go-json.ts";
import { normalCluster } from "../../src/build/normalise.ts";
import type { NormalCluster } from "../../src/build/normalise.ts";
import { desiredSidecarImage, pod } from "../../src/build/pod.ts";
import type { PodSubject } from "../../src/build/pod-subject.ts";
import { headlessService, processGroupService } from "../../src/build/service.ts";
import { volumeClaim } from "../../src/build/volume-claim.ts";
import type { PersistentVolumeClaim, Service } from "../../src/kube/generated/types.ts";
import type { Case } from "./check.ts";
import { compare } from "./comparison.ts";
import type { Outcome } from "./comparison.ts";

export function checkPodCase(vector: Case): Outcome[] {
  const cluster = normalCluster(vector["cluster"] as FoundationDBCluster);
  const subject: PodSubject = {
    processClass: String(vector["processClass"]),
    processGroupID: String(vector["processGroupID"]),
  };
  const made = pod(cluster, subject);
  if (!made.ok || vector["error"] !== undefined) {
    // A resource is refused either while it is validated or while its pod is built.
    const isRefused = !made.ok || validateCluster(cluster).length > 0;
    return [compare("whether it fails", vector["error"] !== undefined, isRefused)];
  }
  const { metadata, spec } = made.value;
  const data = configMap(cluster).data ?? {};
  const image = desiredSidecarImage(cluster, subject.processClass);
  const hash = dynamicConfHashOf(cluster, data, subject.processClass);
  return [
    compare("podName", vector["podName"], metadata.name),
    compare(
      "podSpecJSONThatIsHashed",
      vector["podSpecJSONThatIsHashed"],
      goJsonOf("PodSpec", spec),
    ),
    compare(
      "podSpecHash",
      vector["podSpecHash"],
      metadata.annotations?.["foundationdb.org/last-applied-spec"],
    ),
    compare("podAnnotations", vector["podAnnotations"], metadata.annotations),
    compare("podLabels", vector["podLabels"], metadata.labels),
    compare("configMapData", vector["configMapData"], data),
    compare("dynamicConfHash", vector["dynamicConfHash"], hash),
    compare("desiredSidecarImage", vector["desiredSidecarImage"], image.ok ? image.value : ""),
    compare(
      "expectedCommandLines",
      vector["expectedCommandLines"],
      commandLines(cluster, subject, (vector["substitutions"] ?? {}) as Substitutions),
    ),
    compare("pvc", shownClaim(vector["pvc"]), shownClaim(volumeClaim(cluster, subject))),
    compare(
      "perPodService",
      shownService(vector["perPodService"], false),
      shownService(processGroupService(cluster, subject), false),
    ),
    compare(
      "headlessService",
      shownService(vector["headlessService"], true),
      shownService(headlessService(cluster), true),
    ),
  ];
}

function commandLines(
  cluster: NormalCluster,
  subject: PodSubject,
  substitutions: Substitutions,
): string[] {
  const { processClass } = subject;
  const serverCount = serversPerPod(cluster.spec, processClass);
  const target = { processClass, imageType: imageTypeOf(cluster.spec), serverCount };
  return Array.from({ length: serverCount }, (_, index) =>
    expectedCommandLine(cluster, target, index + 1, substitutions),
  );
}

/** The owner of a claim is set when it is created and stands in no vector. */
function shownClaim(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  const { metadata, spec } = value as PersistentVolumeClaim;
  const { name, namespace, labels, annotations } = metadata;
  return {
    metadata: { name, namespace, labels, annotations },
    spec: goJsonOf("PersistentVolumeClaimSpec", spec),
  };
}

/** Port zero as a target means "the same port", and the owner of the headless service stands in no vector. */
function shownService(value: unknown, isHeadless: boolean): unknown {
  if (value === undefined || value === null) return undefined;
  const { metadata, spec } = value as Service;
  const { name, namespace, labels, annotations, ownerReferences } = metadata;
  const ports = spec?.ports?.map(({ targetPort, ...port }) =>
    targetPort ? { ...port, targetPort } : port,
  );
  return {
    metadata: { name, namespace, labels, annotations, ...(isHeadless ? {} : { ownerReferences }) },
    spec: { ...spec, ports },
  };
}
