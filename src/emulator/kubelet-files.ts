// Files inside containers: volumes with their content in memory, and the view of one container
// that joins the image's own files with the mounted volumes. Carries rules KUBELET15 and
// KUBELET16.
import type { Container } from "../kube/generated/types.ts";
import type { WatchedFiles } from "../pod/container-program.ts";

/** The content of one volume. Paths are relative, without a leading slash. */
export class VolumeStore {
  readonly id: string;
  readonly isWritable: boolean;
  readonly #files = new Map<string, string>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(id: string, isWritable: boolean) {
    this.id = id;
    this.isWritable = isWritable;
  }

  read(path: string): string | undefined {
    return this.#files.get(path);
  }

  write(path: string, text: string): void {
    if (this.#files.get(path) === text) return;
    this.#files.set(path, text);
    this.#announce(path);
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** Replaces everything at once, as an update of a mounted ConfigMap does. */
  replace(files: ReadonlyMap<string, string>): void {
    const changed = [...new Set([...this.#files.keys(), ...files.keys()])].filter(
      (path) => this.#files.get(path) !== files.get(path),
    );
    this.#files.clear();
    for (const [path, text] of files) this.#files.set(path, text);
    for (const path of changed) this.#announce(path);
  }

  onChange(path: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(path) ?? new Set();
    this.#watchers.set(path, watchers);
    watchers.add(changed);
    return () => watchers.delete(changed);
  }

  #announce(path: string): void {
    for (const changed of [...(this.#watchers.get(path) ?? [])]) changed();
  }
}

interface Mount {
  /** Absolute, without a trailing slash. */
  readonly mountPath: string;
  readonly store: VolumeStore;
  /** A directory or file inside the volume; empty for all of it. */
  readonly subPath: string;
  readonly isReadOnly: boolean;
}

export class ContainerFileView implements WatchedFiles {
  readonly #mounts: readonly Mount[];
  readonly #imageFiles: ReadonlyMap<string, string>;
  readonly #disposals: (() => void)[] = [];

  constructor(mounts: readonly Mount[], imageFiles: ReadonlyMap<string, string>) {
    this.#mounts = mounts.toSorted((left, right) => right.mountPath.length - left.mountPath.length);
    this.#imageFiles = imageFiles;
  }

  read(path: string): string | undefined {
    const found = this.#find(path);
    return (
      found?.mount.store.read(found.inner) ??
      (this.#isImagePath(path) ? this.#imageFiles.get(path) : undefined)
    );
  }

  write(path: string, text: string): boolean {
    const found = this.#find(path);
    if (found === undefined || found.mount.isReadOnly || !found.mount.store.isWritable)
      return false;
    found.mount.store.write(found.inner, text);
    return true;
  }

  locate(path: string): { volumeId: string; path: string } | undefined {
    const found = this.#find(path);
    return found && { volumeId: found.mount.store.id, path: found.inner };
  }

  list(directory: string): readonly string[] {
    const found = this.#find(`${normal(directory)}/.`);
    if (found === undefined) return [];
    const prefix = found.inner.slice(0, -1);
    return [...found.mount.store.paths()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .toSorted();
  }

  onChange(path: string, changed: () => void): void {
    const found = this.#find(path);
    if (found !== undefined) this.#disposals.push(found.mount.store.onChange(found.inner, changed));
  }

  /** Ends all watches. */
  dispose(): void {
    for (const dispose of this.#disposals.splice(0)) dispose();
  }

  #find(path: string): { mount: Mount; inner: string } | undefined {
    const wanted = normal(path);
    for (const mount of this.#mounts) {
      const base = mount.mountPath === "/" ? "" : mount.mountPath;
      if (wanted !== base && !wanted.startsWith(`${base}/`)) continue;
      const rest = wanted.slice(base.length + 1);
      return { mount, inner: [mount.subPath, rest].filter((part) => part !== "").join("/") };
    }
    return undefined;
  }

  /** A mounted volume hides the image's files below it. */
  #isImagePath(path: string): boolean {
    const found = this.#find(path);
    return found === undefined || found.mount.mountPath === "/";
  }
}

/** What a container sees: its mounted volumes, and a root of its own unless that is read-only. */
export function openFiles(
  container: Container,
  imageFiles: ReadonlyMap<string, string>,
  podUid: string,
  storeOf: (volume: string) => VolumeStore | undefined,
): ContainerFileView {
  const mounts: Mount[] = (container.volumeMounts ?? []).flatMap((mount) => {
    const store = storeOf(mount.name);
    if (store === undefined) return [];
    const mountPath = mount.mountPath.replace(/(.)\/+$/, "$1");
    return [
      { mountPath, store, subPath: mount.subPath ?? "", isReadOnly: mount.readOnly ?? false },
    ];
  });
  if (container.securityContext?.readOnlyRootFilesystem !== true) {
    const store = new VolumeStore(`root:${podUid}/${container.name}`, true);
    mounts.push({ mountPath: "/", store, subPath: "", isReadOnly: false });
  }
  return new ContainerFileView(mounts, imageFiles);
}

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && (part !== "." || path.endsWith("/."))) parts.push(part);
  }
  return `/${parts.join("/")}`;
}
