// Archives of files as tar writes and reads them (POSIX ustar). The same files give the same bytes: order and times are
// the caller's. Rule PIC31.

export interface ArchivedFile {
  /** With slashes, in ASCII. */
  readonly path: string;
  readonly content: Uint8Array;
}

const blockSize = 512;
const nameMaximum = 100;

/** The archive in pieces, a file at a time. */
export function* tarBlocks(
  files: Iterable<ArchivedFile>,
  modifiedSeconds: number,
): Generator<Uint8Array> {
  for (const { path, content } of files) {
    // A long name stands in a record before the file.
    if (path.length > nameMaximum) {
      const record = Buffer.from(paxRecord("path", path));
      yield headerOf("PaxHeader", record.length, modifiedSeconds, "x");
      yield* padded(record);
    }
    yield headerOf(path.slice(-nameMaximum), content.length, modifiedSeconds, "0");
    yield* padded(content);
  }
  // Two empty blocks end an archive.
  yield new Uint8Array(2 * blockSize);
}

export function tarOf(files: readonly ArchivedFile[], modifiedSeconds: number): Uint8Array {
  return Buffer.concat([...tarBlocks(files, modifiedSeconds)]);
}

function* padded(content: Uint8Array): Generator<Uint8Array> {
  yield content;
  const rest = content.length % blockSize;
  if (rest > 0) yield new Uint8Array(blockSize - rest);
}

/** The length of a record counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length)
    length = String(length).length + rest.length;
  return `${length}${rest}`;
}

function headerOf(
  path: string,
  size: number,
  modifiedSeconds: number,
  type: "0" | "x",
): Uint8Array {
  if (!/^[\x20-\x7e]{1,100}$/.test(path)) throw new Error(`no name for a file in a tar: ${path}`);
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, "0"), at, length - 1, "ascii");
  };
  header.write(path, 0, "ascii");
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.max(0, Math.floor(modifiedSeconds)), 136, 12);
  header.write("        ", 148, "ascii");
  header.write(type, 156, "ascii");
  header.write("ustar\u000000", 257, "ascii");
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return header;
}

/** Plain files only; undefined when the bytes are no whole archive. */
export function filesOfTar(bytes: Uint8Array): ArchivedFile[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files: ArchivedFile[] = [];
  let at = 0;
  let longPath: string | undefined;
  while (at + blockSize <= buffer.length) {
    const header = buffer.subarray(at, at + blockSize);
    if (header.every((byte) => byte === 0)) return files;
    const size = Number.parseInt(textOf(header, 124, 12).trim(), 8);
    if (textOf(header, 257, 5) !== "ustar" || !Number.isSafeInteger(size) || size < 0) {
      return undefined;
    }
    const from = at + blockSize;
    if (from + size > buffer.length) return undefined;
    const prefix = textOf(header, 345, 155);
    const name = textOf(header, 0, 100);
    const type = textOf(header, 156, 1);
    if (type === "x") longPath = pathIn(buffer.toString("utf8", from, from + size));
    if (type === "0" || type === "") {
      const path = longPath ?? (prefix === "" ? name : `${prefix}/${name}`);
      longPath = undefined;
      files.push({ path: path.replace(/^\.\//, ""), content: buffer.subarray(from, from + size) });
    }
    at = from + Math.ceil(size / blockSize) * blockSize;
  }
  return undefined;
}

function pathIn(records: string): string | undefined {
  return /^\d+ path=(.*)$/m.exec(records)?.[1];
}

function textOf(buffer: Buffer, from: number, length: number): string {
  const field = buffer.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString("ascii", 0, end < 0 ? length : end);
}
