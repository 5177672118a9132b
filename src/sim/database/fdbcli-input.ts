// The lines that somebody types into a program.
import { StringDecoder } from "node:string_decoder";
import type { ToolSpec } from "../../pod/process-runtime.ts";

export async function* inputLines({ readInput }: Pick<ToolSpec, "readInput">) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    const bytes = await readInput?.();
    if (bytes === undefined) break;
    const lines = (rest + decoder.write(Buffer.from(bytes))).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  rest += decoder.end();
  if (rest !== "") yield rest;
}
