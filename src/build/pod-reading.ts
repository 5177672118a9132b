// What a living pod says about how it was made: its image type, IP family, number of servers and public addresses.
// Carries the rules B73 to B76 of spec/build.md.
import type { ImageType } from "../api/cluster.ts";
import type { Container } from "../kube/generated/types.ts";
import { isIpv4, isIpv6 } from "../model/ip-address.ts";
import { annotationKeys } from "./labels.ts";
import { sidecarContainerName } from "./normalise.ts";

export interface ReadablePod {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?:
    | { readonly containers?: readonly Container[]; readonly nodeName?: string | undefined }
    | undefined;
  readonly status?:
    | {
        readonly podIP?: string | undefined;
        readonly podIPs?: readonly { readonly ip?: string | undefined }[] | undefined;
      }
    | undefined;
}

/** A pod from before there were image types is of the split one. */
export function imageTypeOfPod(pod: ReadablePod): ImageType {
  return pod.metadata.annotations?.[annotationKeys.imageType] === "unified" ? "unified" : "split";
}

/** Zero when the pod was made without a choice of family. */
export function ipFamilyOfPod(pod: ReadablePod): 0 | 4 | 6 {
  const annotated = pod.metadata.annotations?.[annotationKeys.ipFamily];
  if (annotated) return familyOf(annotated);
  const isUnified = imageTypeOfPod(pod) === "unified";
  return isUnified ? familyOfMonitor(pod) : familyOfSidecar(pod);
}

function familyOf(text: string | undefined): 0 | 4 | 6 {
  return text === "4" ? 4 : text === "6" ? 6 : 0;
}

function familyOfSidecar(pod: ReadablePod): 0 | 4 | 6 {
  const sidecar = pod.spec?.containers?.find((each) => each.name === sidecarContainerName);
  const args = sidecar?.args ?? [];
  const flag = args.indexOf("--public-ip-family");
  return flag < 0 ? 0 : familyOf(args[flag + 1]);
}

/** The monitor's own configuration names the family wherever it picks an address. */
function familyOfMonitor(pod: ReadablePod): 0 | 4 | 6 {
  const text = pod.metadata.annotations?.[annotationKeys.launcherConfiguration] ?? "";
  const match = /"ipFamily":\s*([46])/.exec(text);
  return familyOf(match?.[1]);
}

/** Where its processes have their address from; undefined when no container tells, as where a user sets the variable. */
export function publicIpSourceOfPod(pod: ReadablePod): "pod" | "service" | undefined {
  const paths = (pod.spec?.containers ?? [])
    .flatMap(({ env = [] }) => env)
    .filter(({ name }) => name === "FDB_PUBLIC_IP")
    .flatMap(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath ?? []);
  const [path] = paths;
  if (path === undefined) return undefined;
  if (path.startsWith("status.podIP")) return "pod";
  return path.includes(annotationKeys.publicIp) ? "service" : undefined;
}

/** The addresses that other processes reach the pod at; none while the pod has none. */
export function publicIpsOfPod(pod: ReadablePod): string[] {
  const annotations = pod.metadata.annotations ?? {};
  if (annotations[annotationKeys.publicIpSource] === "service") {
    return [annotations[annotationKeys.publicIp] ?? ""].filter((ip) => ip !== "");
  }
  const family = ipFamilyOfPod(pod);
  if (family === 0) return [pod.status?.podIP ?? ""].filter((ip) => ip !== "");
  return (pod.status?.podIPs ?? [])
    .map((entry) => entry.ip ?? "")
    .filter((ip) => (family === 4 ? isIpv4(ip) : isIpv6(ip)));
}
