// Where the program of a client process is.
import { fileURLToPath } from "node:url";

/** The sources run as they are; a bundle has its client program beside it. */
export function clientProgramPath(): string {
  const name = import.meta.url.endsWith(".ts") ? "./main.ts" : "./fdb-client.js";
  return fileURLToPath(new URL(name, import.meta.url));
}
