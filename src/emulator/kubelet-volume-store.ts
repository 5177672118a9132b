// The content of volumes in memory, and where containers see it. Carries rule KUBELET15.
import { isUtf8 } from "node:buffer";

/** The content of one volume. Paths are relative, without a leading slash. */
export class VolumeStore {
  readonly id: string;
  readonly isWritable: boolean;
  readonly #files = new Map<string, string>();
  /** Files that are no text. */
  readonly #binaries = new Map<string, Uint8Array>();
  readonly #folders = new Set<string>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(id: string, isWritable: boolean) {
    this.id = id;
    this.isWritable = isWritable;
  }

  read(path: string): string | undefined {
    const bytes = this.#binaries.get(path);
    return this.#files.get(path) ?? (bytes && Buffer.from(bytes).toString("utf8"));
  }

  readBytes(path: string): Uint8Array | undefined {
    const text = this.#files.get(path);
    return text === undefined ? this.#binaries.get(path) : Buffer.from(text);
  }

  write(path: string, text: string): void {
    this.#binaries.delete(path);
    if (this.#files.get(path) === text) return;
    this.#files.set(path, text);
    this.#announce(path);
  }

  writeBytes(path: string, bytes: Uint8Array): void {
    if (isUtf8(bytes)) return this.write(path, Buffer.from(bytes).toString("utf8"));
    this.#files.delete(path);
    this.#binaries.set(path, bytes);
    this.#announce(path);
  }

  remove(path: string): boolean {
    const isGone = [this.#files, this.#binaries, this.#folders].map((one) => one.delete(path));
    if (!isGone.includes(true)) return false;
    this.#announce(path);
    return true;
  }

  makeFolder(path: string): void {
    this.#folders.add(path);
  }

  folders(): Iterable<string> {
    return this.#folders;
  }

  paths(): Iterable<string> {
    return this.#binaries.size === 0
      ? this.#files.keys()
      : [...this.#files.keys(), ...this.#binaries.keys()];
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

export interface Mount {
  /** Absolute, without a trailing slash. */
  readonly mountPath: string;
  readonly store: VolumeStore;
  /** A directory or file inside the volume; empty for all of it. */
  readonly subPath: string;
  readonly isReadOnly: boolean;
}

export function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && (part !== "." || path.endsWith("/."))) parts.push(part);
  }
  return `/${parts.join("/")}`;
}
