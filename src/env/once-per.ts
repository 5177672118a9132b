// Derived once for each object, however often it is asked for. Only for objects that never change, such as a status, a pod
// of the local copy or a snapshot; what was derived goes with its object.

export function oncePer<K extends object, V>(derive: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { value: V }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.value;
    const value = derive(key);
    known.set(key, { value });
    return value;
  };
}
