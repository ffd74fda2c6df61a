/** Lists of what has the same key, in the order in which it comes. */
export function gather<T, K>(list: Iterable<T>, key: (one: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const one of list) {
    const name = key(one);
    const own = found.get(name);
    if (own) own.push(one);
    else found.set(name, [one]);
  }
  return found;
}
