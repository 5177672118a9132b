// Files inside containers: the view of one container that joins the image's own files with the
// mounted volumes. Carries rules KUBELET15 and KUBELET16.
import type { Container } from "../kube/generated/types.ts";
import type { CommandFiles } from "../pod/container-command.ts";
import type { WatchedFiles } from "../pod/container-program.ts";
import type { ProcessRuntime } from "../pod/process-runtime.ts";
import { CommandFileView } from "./kubelet-command-files.ts";
import { normalPath, VolumeStore } from "./kubelet-volume-store.ts";
import type { Mount } from "./kubelet-volume-store.ts";

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
    const found = this.#findWritable(path);
    found?.mount.store.write(found.inner, text);
    return found !== undefined;
  }

  locate(path: string): { volumeId: string; path: string } | undefined {
    const found = this.#find(path);
    return found && { volumeId: found.mount.store.id, path: found.inner };
  }

  list(directory: string): readonly string[] {
    const found = this.#find(`${normalPath(directory)}/.`);
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

  /** As a command sees them, with what the runtime's processes keep on the volumes. */
  forCommands(runtime: Pick<ProcessRuntime, "volumeFiles">): CommandFiles {
    return new CommandFileView({
      view: this,
      mounts: this.#mounts,
      imageFiles: this.#imageFiles,
      find: (path) => this.#find(path),
      findWritable: (path) => this.#findWritable(path),
      kept: (store) => runtime.volumeFiles?.(store.id),
    });
  }

  /** Ends all watches. */
  dispose(): void {
    for (const dispose of this.#disposals.splice(0)) dispose();
  }

  #find(path: string): { mount: Mount; inner: string } | undefined {
    const wanted = normalPath(path);
    for (const mount of this.#mounts) {
      const base = mount.mountPath === "/" ? "" : mount.mountPath;
      if (wanted !== base && !wanted.startsWith(`${base}/`)) continue;
      const rest = wanted.slice(base.length + 1);
      return { mount, inner: [mount.subPath, rest].filter((part) => part !== "").join("/") };
    }
    return undefined;
  }

  #findWritable(path: string): { mount: Mount; inner: string } | undefined {
    const found = this.#find(path);
    const isWritable = found?.mount.isReadOnly === false && found.mount.store.isWritable;
    return isWritable ? found : undefined;
  }

  /** A mounted volume hides the image's files below it. */
  #isImagePath(path: string): boolean {
    const found = this.#find(path);
    return found === undefined || found.mount.mountPath === "/";
  }
}

/** What a container sees: its mounted volumes, and a root of its own unless that is read-only, and a file for its last words. */
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
  const { terminationMessagePath: mountPath = "/dev/termination-log" } = container;
  const store = new VolumeStore(`last-words:${podUid}/${container.name}`, true);
  mounts.push({ mountPath, store, subPath: "", isReadOnly: false });
  return new ContainerFileView(mounts, imageFiles);
}
