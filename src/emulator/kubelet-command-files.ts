// A container's files for commands that are run inside it: bytes, folders, removal, and the files that processes keep on
// volumes themselves. Rules: spec/streams.md [WS11].
import type { CommandFiles, FileEntry } from "../pod/container-command.ts";
import type { ContainerFiles, VolumeFiles } from "../pod/process-runtime.ts";
import { normalPath } from "./kubelet-volume-store.ts";
import type { Mount, VolumeStore } from "./kubelet-volume-store.ts";

interface Place {
  readonly mount: Mount;
  readonly inner: string;
}

export interface CommandFileParts {
  /** The container's own view. */
  readonly view: ContainerFiles;
  readonly mounts: readonly Mount[];
  readonly imageFiles: ReadonlyMap<string, string>;
  find(path: string): Place | undefined;
  findWritable(path: string): Place | undefined;
  /** What processes keep on this volume. */
  kept(store: VolumeStore): VolumeFiles | undefined;
}

/** Folders that every image has, also without a file in them. */
const usualFolders = ["/", "/etc", "/root", "/tmp", "/usr/bin", "/var/log"];

export class CommandFileView implements CommandFiles {
  readonly #parts: CommandFileParts;

  constructor(parts: CommandFileParts) {
    this.#parts = parts;
  }

  read(path: string): string | undefined {
    const bytes = this.readBytes(path);
    return bytes && Buffer.from(bytes).toString("utf8");
  }

  readBytes(path: string): Uint8Array | undefined {
    const found = this.#parts.find(path);
    const kept = found && this.#parts.kept(found.mount.store)?.read(found.inner);
    const own = kept ?? found?.mount.store.readBytes(found.inner);
    if (own !== undefined) return own;
    const text = this.#parts.view.read(normalPath(path));
    return text === undefined ? undefined : Buffer.from(text);
  }

  write(path: string, text: string): boolean {
    return this.writeBytes(path, Buffer.from(text));
  }

  writeBytes(path: string, bytes: Uint8Array): boolean {
    const found = this.#parts.findWritable(path);
    if (found === undefined) return false;
    const { mount, inner } = found;
    if (this.#parts.kept(mount.store)?.write(inner, bytes) !== true) {
      mount.store.writeBytes(inner, bytes);
    }
    return true;
  }

  remove(path: string): boolean {
    const found = this.#parts.findWritable(path);
    if (found === undefined) return false;
    const { mount, inner } = found;
    const wasKept = this.#parts.kept(mount.store)?.remove(inner) === true;
    return mount.store.remove(inner) || wasKept;
  }

  makeFolder(path: string): boolean {
    const found = this.#parts.findWritable(path);
    found?.mount.store.makeFolder(found.inner);
    return found !== undefined;
  }

  locate(path: string): { volumeId: string; path: string } | undefined {
    return this.#parts.view.locate(path);
  }

  entries(path: string): readonly FileEntry[] | undefined {
    const folder = normalPath(path);
    const prefix = folder === "/" ? "/" : `${folder}/`;
    const names = new Map<string, boolean>();
    let isThere = false;
    for (const [known, isFolder] of this.#all()) {
      if (known === folder && isFolder) isThere = true;
      if (known === folder || !known.startsWith(prefix)) continue;
      isThere = true;
      const [name = "", ...deeper] = known.slice(prefix.length).split("/");
      names.set(name, (names.get(name) ?? false) || deeper.length > 0 || isFolder);
    }
    if (!isThere) return undefined;
    return [...names.entries()]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, isFolder]) => ({
        ...{ name, isFolder },
        bytes: isFolder ? 0 : (this.readBytes(`${prefix}${name}`)?.length ?? 0),
      }));
  }

  /** Every path that is there, and whether it is a folder. */
  *#all(): Iterable<readonly [string, boolean]> {
    for (const path of usualFolders) yield [path, true];
    for (const path of this.#parts.imageFiles.keys()) {
      if (this.#parts.view.read(path) !== undefined) yield [path, false];
    }
    for (const mount of this.#parts.mounts) {
      yield [mount.mountPath, true];
      const { store } = mount;
      const kept = this.#parts.kept(store)?.paths() ?? [];
      for (const path of [...store.paths(), ...kept]) {
        const outer = this.#outer(mount, path);
        if (outer !== undefined) yield [outer, false];
      }
      for (const path of store.folders()) {
        const outer = this.#outer(mount, path);
        if (outer !== undefined) yield [outer, true];
      }
    }
  }

  /** Where a path of the volume is in the container, unless another mount hides it. */
  #outer(mount: Mount, path: string): string | undefined {
    const { subPath, mountPath } = mount;
    if (subPath !== "" && path !== subPath && !path.startsWith(`${subPath}/`)) return undefined;
    const rest = subPath === "" ? path : path.slice(subPath.length + 1);
    const outer = normalPath(`${mountPath}/${rest}`);
    return this.#parts.find(outer)?.mount === mount ? outer : undefined;
  }
}
