// Turns a pod's volumes into stores: persistent ones by the identity of their PersistentVolume,
// emptyDirs of the pod, and projections of ConfigMaps and Secrets. Carries rules KUBELET14 and
// KUBELET19.
import type {
  ConfigMap,
  KeyToPath,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Volume,
} from "../kube/generated/types.ts";
import { readField, secretData } from "./kubelet-environment.ts";
import { VolumeStore } from "./kubelet-volume-store.ts";

export interface VolumeSources {
  readonly pod: Pod;
  configMap(name: string): ConfigMap | undefined;
  secret(name: string): Secret | undefined;
  claim(name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  /** The store that outlives pods; made on first use. */
  persistentStore(id: string): VolumeStore;
}

type Files = ReadonlyMap<string, string>;
type Outcome<T> = { value: T } | { problem: string };

export class PodVolumes {
  readonly #stores = new Map<string, VolumeStore>();
  readonly #sources: VolumeSources;

  constructor(sources: VolumeSources) {
    this.#sources = sources;
  }

  store(name: string): VolumeStore | undefined {
    return this.#stores.get(name);
  }

  /** Mounts what is not mounted yet. Returns why that is impossible, if it is. */
  mount(): string | undefined {
    for (const volume of this.#sources.pod.spec?.volumes ?? []) {
      if (this.#stores.has(volume.name)) continue;
      const outcome = this.#open(volume);
      if ("problem" in outcome) {
        return `MountVolume.SetUp failed for volume "${volume.name}" : ${outcome.problem}`;
      }
      this.#stores.set(volume.name, outcome.value);
    }
    return undefined;
  }

  /**
   * Brings mounted ConfigMaps and Secrets up to date; what cannot be read keeps its old content.
   */
  refresh(): void {
    for (const volume of this.#sources.pod.spec?.volumes ?? []) {
      const store = this.#stores.get(volume.name);
      const files = store && this.#project(volume);
      if (files !== undefined && "value" in files) store?.replace(files.value);
    }
  }

  usesConfigMap(name: string): boolean {
    return (this.#sources.pod.spec?.volumes ?? []).some(
      ({ configMap, projected }) =>
        configMap?.name === name ||
        projected?.sources?.some((source) => source.configMap?.name === name),
    );
  }

  usesSecret(name: string): boolean {
    const volumes = this.#sources.pod.spec?.volumes ?? [];
    return volumes.some(({ secret }) => secret?.secretName === name);
  }

  #open(volume: Volume): Outcome<VolumeStore> {
    const uid = this.#sources.pod.metadata.uid ?? "";
    const files = this.#project(volume);
    if (files !== undefined) {
      if ("problem" in files) return files;
      const store = new VolumeStore(`projected:${uid}/${volume.name}`, false);
      store.replace(files.value);
      return { value: store };
    }
    if (volume.persistentVolumeClaim !== undefined) {
      return this.#openClaim(volume.persistentVolumeClaim.claimName);
    }
    if (volume.hostPath !== undefined) {
      const id = `host:${this.#sources.pod.spec?.nodeName ?? ""}:${volume.hostPath.path}`;
      return { value: this.#sources.persistentStore(id) };
    }
    return { value: new VolumeStore(`emptydir:${uid}/${volume.name}`, true) };
  }

  #openClaim(name: string): Outcome<VolumeStore> {
    const claim = this.#sources.claim(name);
    if (claim === undefined) return { problem: `persistentvolumeclaim "${name}" not found` };
    if (claim.status?.phase !== "Bound") {
      return { problem: `persistentvolumeclaim "${name}" is not bound` };
    }
    const volumeName = claim.spec?.volumeName ?? "";
    const volume = this.#sources.volume(volumeName);
    if (volume === undefined) return { problem: `persistentvolume "${volumeName}" not found` };
    const id = `volume:${volume.metadata.uid ?? volumeName}`;
    return { value: this.#sources.persistentStore(id) };
  }

  /** The files of a volume that shows API objects; undefined for any other volume. */
  #project(volume: Volume): Outcome<Files> | undefined {
    const { configMap, secret, projected, downwardAPI } = volume;
    if (configMap !== undefined) {
      const name = configMap.name ?? "";
      const data = this.#sources.configMap(name)?.data;
      const isThere = this.#sources.configMap(name) !== undefined;
      return pick("configmap", name, isThere ? (data ?? {}) : undefined, configMap);
    }
    if (secret !== undefined) {
      const name = secret.secretName ?? "";
      return pick("secret", name, secretData(this.#sources.secret(name)), secret);
    }
    if (downwardAPI !== undefined) return { value: this.#downward(downwardAPI.items ?? []) };
    if (projected === undefined) return undefined;
    const files = new Map<string, string>();
    for (const source of projected.sources ?? []) {
      for (const [path, text] of this.#downward(source.downwardAPI?.items ?? []))
        files.set(path, text);
      if (source.serviceAccountToken !== undefined) {
        files.set(source.serviceAccountToken.path, "emulated-token");
      }
      if (source.configMap === undefined || source.configMap.name === rootCertificates) continue;
      const name = source.configMap.name ?? "";
      const part = pick("configmap", name, this.#sources.configMap(name)?.data, source.configMap);
      if ("problem" in part) return part;
      for (const [path, text] of part.value) files.set(path, text);
    }
    return { value: files };
  }

  #downward(items: readonly { path: string; fieldRef?: { fieldPath: string } }[]): Files {
    const files = new Map<string, string>();
    const sources = { ...this.#sources, podIps: [], hostIp: "" };
    for (const { path, fieldRef } of items) {
      const found = fieldRef && readField(fieldRef.fieldPath, sources);
      if (found !== undefined && "value" in found) files.set(path, found.value);
    }
    return files;
  }
}

/** Real clusters publish their certificate authority under this name in every namespace. */
const rootCertificates = "kube-root-ca.crt";

function pick(
  kind: string,
  name: string,
  data: Readonly<Record<string, string>> | undefined,
  selection: { items?: readonly KeyToPath[]; optional?: boolean },
): Outcome<Files> {
  if (data === undefined) {
    if (selection.optional === true) return { value: new Map() };
    return { problem: `${kind} "${name}" not found` };
  }
  if (selection.items === undefined) return { value: new Map(Object.entries(data)) };
  const files = new Map<string, string>();
  for (const { key, path } of selection.items) {
    const text = data[key];
    if (text !== undefined) files.set(path, text);
    else if (selection.optional !== true) {
      return { problem: `references non-existent config key: ${key}` };
    }
  }
  return { value: files };
}
