// Headers of SPDY/3 streams: names and values with their lengths, compressed with one zlib stream for a whole connection
// and with a dictionary that the protocol fixes. Rules: spec/streams.md [WS18].
import { constants, createDeflate, createInflate } from "node:zlib";

/** The protocol's dictionary begins with these words, each with its length before it. */
const names =
  `options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age
  allow authorization cache-control connection content-base content-encoding content-language content-length
  content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since
  if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate
  proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning
  www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin`
    .split(/\s+/)
    .map((name) => name.replace("_", " "));

/** And ends with this text. */
const ending = [
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505",
  "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized",
  "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable",
  "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT",
  "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,",
  "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.",
].join("");

const dictionary = Buffer.concat([...names.map(withLength), Buffer.from(ending)]);
const headerBytesMax = 64 * 1024;

function withLength(text: string): Buffer {
  const length = Buffer.alloc(4);
  const bytes = Buffer.from(text);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads and makes the header blocks of one connection, in the order in which they are sent. */
export class SpdyHeaders {
  readonly #inflate = createInflate({ dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  readonly #deflate = createDeflate({ dictionary, flush: constants.Z_SYNC_FLUSH });

  /** Names are in lower case. Rejects when the block cannot be read. */
  async read(block: Buffer): Promise<Map<string, string>> {
    const bytes = await pass(this.#inflate, block);
    const headers = new Map<string, string>();
    let at = 4;
    const next = (): string => {
      const length = bytes.readUInt32BE(at);
      const text = bytes.subarray(at + 4, at + 4 + length);
      if (text.length < length) throw new Error("the headers of a stream are cut off");
      at += 4 + length;
      return text.toString("utf8");
    };
    const count = bytes.readUInt32BE(0);
    for (let index = 0; index < count; index += 1) headers.set(next().toLowerCase(), next());
    return headers;
  }

  /** A block without any header. */
  empty(): Promise<Buffer> {
    return pass(this.#deflate, Buffer.alloc(4));
  }

  close(): void {
    this.#inflate.close();
    this.#deflate.close();
  }
}

type Transformer = ReturnType<typeof createInflate> | ReturnType<typeof createDeflate>;

function pass(through: Transformer, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > headerBytesMax) return void through.destroy(new Error("headers are too long"));
      chunks.push(chunk);
    };
    through.on("data", take);
    through.once("error", reject);
    through.write(bytes, () => {
      through.off("data", take);
      through.off("error", reject);
      resolve(Buffer.concat(chunks));
    });
  });
}
