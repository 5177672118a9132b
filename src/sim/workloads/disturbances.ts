// What goes on in a life that the database may feel. Faults overlap: the end of one, which may come minutes after the fault
// was taken back, is not the end of another. Rules: spec/world.md [W113], [W142].

export class Disturbances {
  readonly #ongoing = new Set<() => void>();

  get areOngoing(): boolean {
    return this.#ongoing.size > 0;
  }

  /** Until what is returned is called. */
  begin(): () => void {
    const end = (): void => void this.#ongoing.delete(end);
    this.#ongoing.add(end);
    return end;
  }
}
