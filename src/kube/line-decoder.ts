// Cuts a byte stream into lines: a watch is one JSON document a line, and chunks end anywhere, even inside
// a character. Carries rule KUBE12.
import { StringDecoder } from "node:string_decoder";

export class LineDecoder {
  readonly #decoder = new StringDecoder("utf8");
  readonly #keepsEmpty: boolean;
  #parts: string[] = [];

  /** Empty lines are dropped unless they are asked for. */
  constructor({ keepsEmpty = false } = {}) {
    this.#keepsEmpty = keepsEmpty;
  }

  /** The lines that this chunk completes, without their line feeds. */
  push(chunk: Uint8Array): string[] {
    const pieces = this.#decoder.write(Buffer.from(chunk)).split("\n");
    const lines: string[] = [];
    for (let index = 0; index < pieces.length - 1; index += 1) {
      this.#parts.push(pieces[index] ?? "");
      const line = this.#parts.join("");
      this.#parts = [];
      if (this.#keepsEmpty || line.trim() !== "") lines.push(line);
    }
    const last = pieces[pieces.length - 1] ?? "";
    if (last !== "") this.#parts.push(last);
    return lines;
  }

  /** Ends the stream. True when something was begun and never ended by a line feed: the stream was cut. */
  end(): boolean {
    return this.rest().trim() !== "";
  }

  /** Ends the stream and gives what no line feed ended. */
  rest(): string {
    this.#parts.push(this.#decoder.end());
    return this.#parts.join("");
  }
}
