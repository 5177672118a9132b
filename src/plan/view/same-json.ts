// Whether two plain values say the same: the order of keys and fields set to undefined do not matter.

export function isSameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return false;
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSameJson(item, right[index]));
  }
  return isSameObject(left as Record<string, unknown>, right as Record<string, unknown>);
}

function isSameObject(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  let count = 0;
  for (const key of Object.keys(left)) {
    if (left[key] === undefined) continue;
    count += 1;
    if (!isSameJson(left[key], right[key])) return false;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) count -= 1;
  return count === 0;
}
