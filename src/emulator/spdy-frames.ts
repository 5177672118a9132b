// Frames of SPDY/3.1, which kubectl sends inside a WebSocket to forward ports: cut from a stream of bytes, and made.
// Rules: spec/streams.md [WS18].

export type SpdyFrame =
  | { type: "data"; stream: number; isLast: boolean; bytes: Buffer }
  | { type: "open"; stream: number; isLast: boolean; headers: Buffer }
  | { type: "reset"; stream: number }
  | { type: "ping"; id: number }
  | { type: "goodbye" }
  | { type: "other" };

const version = 3;
const kind = { open: 1, reply: 2, reset: 3, ping: 6, goodbye: 7 } as const;
const lastFlag = 1;
const headBytes = 8;

/** Cuts a stream into frames, however its pieces come. */
export class SpdyReader {
  #waiting: Buffer = Buffer.alloc(0);

  /** Throws when the bytes are no SPDY/3. */
  push(bytes: Buffer): SpdyFrame[] {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    const frames: SpdyFrame[] = [];
    for (;;) {
      const head = this.#waiting;
      if (head.length < headBytes) return frames;
      const length = head.readUIntBE(5, 3);
      if (head.length < headBytes + length) return frames;
      const body = head.subarray(headBytes, headBytes + length);
      frames.push(readFrame(head, body));
      this.#waiting = head.subarray(headBytes + length);
    }
  }
}

function readFrame(head: Buffer, body: Buffer): SpdyFrame {
  const isLast = ((head[4] ?? 0) & lastFlag) !== 0;
  const first = head.readUInt32BE(0);
  if (first < 2 ** 31) return { type: "data", stream: first, isLast, bytes: body };
  if (head.readUInt16BE(0) !== 0x8000 + version) throw new Error("this is not SPDY/3");
  switch (head.readUInt16BE(2)) {
    case kind.open:
      if (body.length < 10) throw new Error("a frame is too short");
      return { type: "open", stream: streamOf(body), isLast, headers: body.subarray(10) };
    case kind.reset:
      return { type: "reset", stream: streamOf(body) };
    case kind.ping:
      return { type: "ping", id: body.readUInt32BE(0) };
    case kind.goodbye:
      return { type: "goodbye" };
    default:
      // Settings and windows: neither side of kubectl's streams uses them.
      return { type: "other" };
  }
}

function streamOf(body: Buffer): number {
  return body.readUInt32BE(0) & 0x7fffffff;
}

export function dataFrame(stream: number, bytes: Uint8Array, isLast = false): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(stream, 0);
  head[4] = isLast ? lastFlag : 0;
  head.writeUIntBE(bytes.length, 5, 3);
  return Buffer.concat([head, bytes]);
}

export function replyFrame(stream: number, headers: Uint8Array): Buffer {
  return controlFrame(kind.reply, Buffer.concat([numbers(stream), headers]));
}

export function pingFrame(id: number): Buffer {
  return controlFrame(kind.ping, numbers(id));
}

/** `refused` says that the stream was never worked on. */
export function resetFrame(stream: number): Buffer {
  const refused = 3;
  return controlFrame(kind.reset, numbers(stream, refused));
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function controlFrame(type: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 + version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}
