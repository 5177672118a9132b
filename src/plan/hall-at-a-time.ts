// Planned work goes through one hall before it touches the next. Rules: spec/halls.md [HALL21].

/** The members of one hall: one of the preferred halls if there is any, else the first by name. All when there are no halls. */
export function membersOfOneHall<T>(
  members: readonly T[],
  hallOf: (member: T) => string,
  isPreferred: (member: T) => boolean,
): readonly T[] {
  const pool = members.some(isPreferred) ? members.filter(isPreferred) : members;
  const [hall = ""] = [...new Set(pool.map(hallOf))].sort();
  return members.filter((member) => hallOf(member) === hall);
}
