// Tells our own writes to an object from those of others, when their change is announced. The announcement may come before
// the answer to the write, so while one is under way announcements are kept back. Rules: spec/operate.md [OP3].

export class OwnWrites {
  #writtenVersion: string | undefined;
  #isWriting = false;
  #kept: string | undefined;

  /** Whether a change to this version deserves a look. */
  isForeign(resourceVersion: string | undefined): boolean {
    if (this.#isWriting) {
      this.#kept = resourceVersion;
      return false;
    }
    return resourceVersion !== this.#writtenVersion;
  }

  begin(): void {
    this.#isWriting = true;
    this.#kept = undefined;
  }

  /** Ends a write with the version that it led to, none when it failed; whether others changed the object meanwhile. */
  end(resourceVersion: string | undefined): boolean {
    this.#isWriting = false;
    if (resourceVersion !== undefined) this.#writtenVersion = resourceVersion;
    return this.#kept !== undefined && this.#kept !== resourceVersion;
  }
}
