// Hashes by which the operator sees that an object was made from another spec than the present one. They equal those of
// the Go operator, so that its clusters can be taken over. Carries the rules B5 and B6 of spec/build.md.
import { createHash } from "node:crypto";
import type {
  DeploymentSpec,
  PersistentVolumeClaimSpec,
  PodSpec,
} from "../kube/generated/types.ts";
import { goJsonOf, goJsonOfTexts } from "./go-json.ts";

/** Hex SHA-256 of the text and a line break: Go's encoder ends each value with one. */
function hashOf(json: string): string {
  return createHash("sha256").update(json).update("\n").digest("hex");
}

export function podSpecHash(spec: PodSpec): string {
  return hashOf(goJsonOf("PodSpec", spec));
}

export function volumeClaimSpecHash(spec: PersistentVolumeClaimSpec): string {
  return hashOf(goJsonOf("PersistentVolumeClaimSpec", spec));
}

export function deploymentSpecHash(spec: DeploymentSpec): string {
  return hashOf(goJsonOf("DeploymentSpec", spec));
}

export function textsHash(texts: Readonly<Record<string, string>>): string {
  return hashOf(goJsonOfTexts(texts));
}
