// How many processes of each database get figures of their own under a limit on series. Pure. Rules: spec/monitoring.md [MON6].

/** Processes by cluster that have figures: an even share, and what small clusters leave is for the large ones. */
export function processBudget(
  processes: ReadonlyMap<string, number>,
  seriesMax: number,
  seriesEach: number,
): Map<string, number> {
  let left = Math.floor(seriesMax / seriesEach);
  const smallestFirst = [...processes].toSorted(
    ([leftName, leftCount], [rightName, rightCount]) =>
      leftCount - rightCount || (leftName < rightName ? -1 : 1),
  );
  const budget = new Map<string, number>();
  smallestFirst.forEach(([name, count], index) => {
    const given = Math.min(count, Math.floor(left / (smallestFirst.length - index)));
    budget.set(name, given);
    left -= given;
  });
  return budget;
}
