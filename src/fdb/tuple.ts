// FoundationDB's tuple encoding for the element types that the operator's keys need: null, bytes, text and
// integers of up to eight bytes. Encoded tuples sort as their elements do. Carries rules KV40 to KV43.
import { bytesOfText, textOfBytes } from "./bytes.ts";

export type TupleElement = null | string | Uint8Array | number | bigint;

/** Bytes that are no tuple, or hold an element type that we do not read. */
export class TupleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TupleError";
  }
}

const nullCode = 0x00;
const bytesCode = 0x01;
const textCode = 0x02;
const zeroCode = 0x14;
const integerLengthMax = 8;

export function encodeTuple(elements: readonly TupleElement[]): Uint8Array {
  const bytes: number[] = [];
  for (const element of elements) {
    if (element === null) bytes.push(nullCode);
    else if (typeof element === "string") encodeTerminated(bytes, textCode, bytesOfText(element));
    else if (element instanceof Uint8Array) encodeTerminated(bytes, bytesCode, element);
    else encodeInteger(bytes, element);
  }
  return Uint8Array.from(bytes);
}

/** Integers come back as number where a number holds them exactly, else as bigint. */
export function decodeTuple(bytes: Uint8Array): TupleElement[] {
  const elements: TupleElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const code = bytes[at] ?? 0;
    at += 1;
    if (code === nullCode) {
      elements.push(null);
    } else if (code === bytesCode || code === textCode) {
      const { content, next } = decodeTerminated(bytes, at);
      elements.push(code === textCode ? textOfBytes(content) : content);
      at = next;
    } else if (Math.abs(code - zeroCode) <= integerLengthMax) {
      const length = Math.abs(code - zeroCode);
      if (at + length > bytes.length) throw new TupleError("the tuple ends inside of an integer");
      elements.push(decodeInteger(bytes.subarray(at, at + length), code < zeroCode));
      at += length;
    } else {
      throw new TupleError(`the tuple holds an element of the unknown type ${code}`);
    }
  }
  return elements;
}

/** A zero byte inside is followed by 0xff, so that the terminating zero can be told from it. */
function encodeTerminated(bytes: number[], code: number, content: Uint8Array): void {
  bytes.push(code);
  for (const byte of content) {
    bytes.push(byte);
    if (byte === 0) bytes.push(0xff);
  }
  bytes.push(0);
}

function decodeTerminated(bytes: Uint8Array, from: number): { content: Uint8Array; next: number } {
  const content: number[] = [];
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0) {
      content.push(byte);
    } else if (bytes[at + 1] === 0xff) {
      content.push(0);
      at += 1;
    } else {
      return { content: Uint8Array.from(content), next: at + 1 };
    }
  }
  throw new TupleError("the tuple ends inside of a text");
}

/** The type code tells sign and length; negative integers are stored as their one's complement. */
function encodeInteger(bytes: number[], element: number | bigint): void {
  if (typeof element === "number" && !Number.isSafeInteger(element)) {
    throw new TupleError(`${element} is no integer that a tuple can hold exactly`);
  }
  const value = BigInt(element);
  const magnitude = value < 0n ? -value : value;
  const hex = magnitude === 0n ? "" : magnitude.toString(16);
  const length = Math.ceil(hex.length / 2);
  if (length > integerLengthMax) throw new TupleError(`${value} needs more than eight bytes`);
  bytes.push(value < 0n ? zeroCode - length : zeroCode + length);
  for (let index = length - 1; index >= 0; index -= 1) {
    const byte = Number((magnitude >> BigInt(8 * index)) & 0xffn);
    bytes.push(value < 0n ? 0xff - byte : byte);
  }
}

function decodeInteger(content: Uint8Array, isNegative: boolean): number | bigint {
  let magnitude = 0n;
  for (const byte of content)
    magnitude = (magnitude << 8n) | BigInt(isNegative ? 0xff - byte : byte);
  const value = isNegative ? -magnitude : magnitude;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
