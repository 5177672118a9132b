// Keys and values are bytes. In maps and comparisons they travel as binary text (one character a byte),
// whose order in JavaScript is exactly the byte order of FoundationDB.

/** Binary text of bytes. */
export function binaryText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The bytes of binary text. */
export function bytesOfBinary(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** The UTF-8 bytes of ordinary text. */
export function bytesOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "utf8"));
}

export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** The first key that does not begin with the prefix: the end of the range of all that do. */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  if (length === 0) throw new Error("no key follows a prefix of 0xff bytes only");
  const end = prefix.slice(0, length);
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

/** As FoundationDB's tools print keys: printable ASCII as is, everything else as \xNN. */
export function printableBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    if (byte === 0x5c) text += "\\\\";
    else if (byte >= 0x20 && byte < 0x7f) text += String.fromCharCode(byte);
    else text += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return text;
}
