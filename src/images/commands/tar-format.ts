// The tar format (POSIX ustar) as `kubectl cp` needs it: files and folders with their names and sizes. Names that are too
// long for a header go into an extended header before it (pax). Rules: spec/streams.md [WS16].

export interface TarEntry {
  /** Relative, as it stands in the archive. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly bytes: Uint8Array;
}

const block = 512;
const nameBytesMax = 100;

export function writeTar(entries: Iterable<TarEntry>): Buffer {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const name = entry.isFolder ? `${entry.name.replace(/\/$/, "")}/` : entry.name;
    if (Buffer.byteLength(name) > nameBytesMax) {
      const record = paxRecord("path", name);
      parts.push(header("pax", "x", record.length), padded(record));
    }
    const shortName = Buffer.from(name).subarray(0, nameBytesMax).toString("utf8");
    parts.push(header(shortName, entry.isFolder ? "5" : "0", entry.bytes.length));
    parts.push(padded(entry.bytes));
  }
  parts.push(Buffer.alloc(2 * block));
  return Buffer.concat(parts);
}

function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const length = Buffer.byteLength(rest);
  let total = length + String(length).length;
  if (length + String(total).length !== total) total = length + String(total).length;
  return Buffer.from(`${total}${rest}`);
}

function padded(bytes: Uint8Array): Uint8Array {
  const extra = (block - (bytes.length % block)) % block;
  return extra === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(extra)]);
}

function header(name: string, type: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  bytes.write(name, 0, nameBytesMax);
  bytes.write(`${type === "5" ? "0000755" : "0000644"}\0`, 100);
  bytes.write("0000000\u00000000000\0", 108);
  bytes.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  bytes.write("00000000000\0", 136);
  bytes.write("        ", 148);
  bytes.write(type, 156);
  bytes.write("ustar\u000000", 257);
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

/** Throws when the bytes are no archive, or end in the middle of one. */
export function readTar(bytes: Buffer): TarEntry[] {
  const entries: TarEntry[] = [];
  let longName: string | undefined;
  let at = 0;
  while (at + block <= bytes.length) {
    const head = bytes.subarray(at, at + block);
    if (head.every((byte) => byte === 0)) return entries;
    const size = parseInt(text(head, 124, 12), 8);
    if (!Number.isInteger(size) || size < 0)
      throw new Error("This does not look like a tar archive");
    const content = bytes.subarray(at + block, at + block + size);
    if (content.length < size) throw new Error("Unexpected EOF in archive");
    at += block + Math.ceil(size / block) * block;
    const type = String.fromCharCode(head[156] ?? 0);
    if (type === "x") {
      longName = /\d+ path=([^\n]*)\n/.exec(content.toString("utf8"))?.[1] ?? longName;
      continue;
    }
    if (type === "L") {
      longName = content.toString("utf8").replace(/\0.*$/s, "");
      continue;
    }
    const prefix = text(head, 345, 155);
    const short = text(head, 0, nameBytesMax);
    const name = longName ?? (prefix === "" ? short : `${prefix}/${short}`);
    longName = undefined;
    if (type === "5") entries.push({ name, isFolder: true, bytes: Buffer.alloc(0) });
    else if (type === "0" || type === "\0") entries.push({ name, isFolder: false, bytes: content });
  }
  throw new Error("Unexpected EOF in archive");
}

function text(bytes: Buffer, at: number, length: number): string {
  return bytes
    .subarray(at, at + length)
    .toString("utf8")
    .replace(/\0.*$/s, "")
    .trim();
}
