// A copy of an object without some fields. A bad item takes its whole list with it, so that the
// places of other items never change.
import { isMap, memberPath } from "./json-value.ts";

export function withoutFields(object: unknown, paths: readonly string[]): unknown {
  return remaining(object, "", paths);
}

function remaining(value: unknown, path: string, paths: readonly string[]): unknown {
  if (!isMap(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const place = memberPath(path, name);
    const isBad = paths.some((bad) => bad === place || bad.startsWith(`${place}[`));
    return isBad ? [] : [[name, remaining(member, place, paths)] as const];
  });
  return Object.fromEntries(members);
}
