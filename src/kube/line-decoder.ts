// Cuts a byte stream into lines: a watch is one JSON document a line, and chunks end anywhere, even inside
// a character. Carries rule KUBE12.
import { StringDecoder } from "node:string_decoder";

export class LineDecoder {
  readonly #decoder = new StringDecoder("utf8");
  #parts: string[] = [];

  /** The lines that this chunk completes, without their line feeds; empty lines are dropped. */
  push(chunk: Uint8Array): string[] {
    const pieces = this.#decoder.write(Buffer.from(chunk)).split("\n");
    const lines: string[] = [];
    for (let index = 0; index < pieces.length - 1; index += 1) {
      this.#parts.push(pieces[index] ?? "");
      const line = this.#parts.join("");
      this.#parts = [];
      if (line.trim() !== "") lines.push(line);
    }
    const last = pieces[pieces.length - 1] ?? "";
    if (last !== "") this.#parts.push(last);
    return lines;
  }

  /** Ends the stream. True when something was begun and never ended by a line feed: the stream was cut. */
  end(): boolean {
    this.#parts.push(this.#decoder.end());
    return this.#parts.join("").trim() !== "";
  }
}
