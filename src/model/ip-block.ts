// Blocks of IP addresses as Kubernetes writes them, 10.1.0.0/16 or 2001:db8::/64, and whether an address lies in one.
import { canonicalIp } from "./ip-address.ts";

export interface IpBlock {
  readonly bits: readonly number[];
  /** How many of the bits count. */
  readonly length: number;
}

/** Undefined for any other text. */
export function parseIpBlock(text: string): IpBlock | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  const bits = bitsOf(address);
  if (bits === undefined || rest.length > 0 || !/^(0|[1-9][0-9]{0,2})$/.test(length)) {
    return undefined;
  }
  return Number(length) > bits.length ? undefined : { bits, length: Number(length) };
}

/** An address is a block of its own length. */
export function parseAddressBlock(address: string): IpBlock | undefined {
  const bits = bitsOf(address);
  return bits && { bits, length: bits.length };
}

/** Whether all addresses of `part` lie in `whole`. */
export function isInsideBlock(whole: IpBlock, part: IpBlock): boolean {
  if (whole.bits.length !== part.bits.length || part.length < whole.length) return false;
  for (let index = 0; index < whole.length; index += 1) {
    if (whole.bits[index] !== part.bits[index]) return false;
  }
  return true;
}

function bitsOf(text: string): readonly number[] | undefined {
  const ip = canonicalIp(text);
  if (ip === undefined) return undefined;
  if (!ip.includes(":")) return bitsOfNumbers(ip.split(".").map(Number), 8);
  const [head = "", tail] = ip.split("::");
  const numbers = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [numbers(head), numbers(tail ?? "")];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0);
  return bitsOfNumbers([...first, ...zeros, ...last], 16);
}

function bitsOfNumbers(numbers: readonly number[], width: number): readonly number[] {
  return numbers.flatMap((number) =>
    Array.from({ length: width }, (_, index) => (number >> (width - 1 - index)) & 1),
  );
}
