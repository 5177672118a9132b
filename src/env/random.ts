// Chance as an argument: a seeded generator for simulation and tests, the machine's for production.
import { randomBytes } from "node:crypto";

export interface Random {
  /** A number in [0, 1). */
  next(): number;
}

/** sfc32, seeded through splitmix32: small, fast and the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const mix = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let z = state ^ (state >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let [a, b, c, d] = [mix(), mix(), mix(), 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let warmUp = 0; warmUp < 12; warmUp += 1) next();
  return { next };
}

export function machineRandom(): Random {
  return { next: () => randomBytes(4).readUInt32LE() / 2 ** 32 };
}

/** An integer in [from, to], both included. */
export function randomInteger(random: Random, from: number, to: number): number {
  return from + Math.floor(random.next() * (to - from + 1));
}

export function randomPick<T>(random: Random, items: readonly T[]): T {
  const item = items[randomInteger(random, 0, items.length - 1)];
  if (item === undefined) throw new Error("cannot pick from an empty list");
  return item;
}

export function randomText(random: Random, length: number, alphabet: string): string {
  let text = "";
  for (let index = 0; index < length; index += 1) {
    text += alphabet[randomInteger(random, 0, alphabet.length - 1)];
  }
  return text;
}

export const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A version 4 UUID drawn from the given generator. */
export function randomUuid(random: Random): string {
  const hex = randomText(random, 32, "0123456789abcdef").split("");
  hex[12] = "4";
  hex[16] = "89ab"[randomInteger(random, 0, 3)] ?? "8";
  const text = hex.join("");
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    text.slice(12, 16),
    text.slice(16, 20),
    text.slice(20),
  ].join("-");
}
