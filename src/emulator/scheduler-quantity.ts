// Kubernetes quantities as plain numbers, as the scheduler and the volume controller compare them.
import { nanosOf } from "../model/quantity.ts";

const amounts = new Map<string, number>();
const amountsMax = 4096;

/** In whole units of the given scale, rounded up. Text that is no quantity counts as nothing. */
function scaled(quantity: string | number | undefined, nanoPerUnit: bigint): number {
  const text = String(quantity ?? "0");
  const key = `${nanoPerUnit} ${text}`;
  let amount = amounts.get(key);
  if (amount === undefined) {
    amount = Number((nanosOf(text) + nanoPerUnit - 1n) / nanoPerUnit);
    if (amounts.size < amountsMax) amounts.set(key, amount);
  }
  return amount;
}

export function quantityValue(quantity: string | number | undefined): number {
  return scaled(quantity, 10n ** 9n);
}

/**
 * The amount of a resource as the scheduler counts it: CPU in thousandths, everything else in
 * units.
 */
export function resourceAmount(resource: string, quantity: string | number | undefined): number {
  return resource === "cpu" ? scaled(quantity, 10n ** 6n) : quantityValue(quantity);
}
