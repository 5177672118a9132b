// When entries of the maintenance list were made, on our own clock. They carry the time of whoever wrote them, whose clock may
// differ by hours; but an entry is not younger than the look that showed it first, nor older than the look before that one.
// Rules: spec/restart.md [T78].

interface SeenEntry {
  readonly storedSeconds: number;
  readonly ownSeconds: number;
}

export class MaintenanceMemory {
  #seen: ReadonlyMap<string, SeenEntry> = new Map();
  #lookedMs = -Infinity;

  /** Seconds since the epoch by process group; `askedMs` and `answeredMs` are the times of this look. */
  note(
    listed: ReadonlyMap<string, number>,
    askedMs: number,
    answeredMs: number,
  ): ReadonlyMap<string, number> {
    const seen = new Map<string, SeenEntry>();
    for (const [id, storedSeconds] of listed) {
      const known = this.#seen.get(id);
      const isSame = known?.storedSeconds === storedSeconds;
      const ownMs = Math.min(answeredMs, Math.max(this.#lookedMs, storedSeconds * 1000));
      seen.set(id, isSame ? known : { storedSeconds, ownSeconds: Math.floor(ownMs / 1000) });
    }
    this.#seen = seen;
    this.#lookedMs = askedMs;
    return new Map([...seen].map(([id, { ownSeconds }]) => [id, ownSeconds]));
  }
}
