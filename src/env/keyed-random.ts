// One seed, many independent generators: each part of a world draws from its own, named after it, so that a
// part that draws more or a part that is new does not change what the others draw. Carries rule SIM8.
import { seededRandom } from "./random.ts";
import type { Random } from "./random.ts";

export function keyedRandom(seed: number, name: string): Random {
  // FNV-1a over both as text: mixing the bare numbers would let a seed cancel out a letter of the name.
  const text = `${seed}/${name}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return seededRandom(hash >>> 0);
}
