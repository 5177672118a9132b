// `bash` and `sh`: runs a line, a script from the standard input, or what somebody types. Carries rule WS12 of
// spec/streams.md.
import type { CommandContext, CommandFiles } from "../../pod/container-command.ts";
import { bytesOf, Pipe, readAll } from "./command-life.ts";
import type { CommandIo, CommandProgram } from "./command-life.ts";
import { parseScript } from "./shell-words.ts";
import type { Pipeline, SimpleCommand, WordPart } from "./shell-words.ts";

/** Finds what runs under a name; undefined when there is no such program. */
export type FindProgram = (name: string) => CommandProgram | undefined;

export function shellProgram(name: string, find: FindProgram): CommandProgram {
  return async (io) => {
    const [, ...args] = io.context.words;
    const at = args.findIndex((word) => /^-[a-z]*c$/.test(word));
    if (at >= 0) return new Shell(name, io, find).run(args[at + 1] ?? "");
    if (io.context.hasTerminal) return interact(new Shell(name, io, find), io);
    return new Shell(name, io, find).run((await readAll(io)).toString("utf8"));
  };
}

/** One line after the other, as a person types them. */
async function interact(shell: Shell, io: CommandIo): Promise<number> {
  const prompt = `${io.context.pod.name}:/# `;
  let typed = "";
  let code = 0;
  await io.out(prompt);
  for (;;) {
    const end = typed.indexOf("\n");
    if (end >= 0) {
      const line = typed.slice(0, end);
      typed = typed.slice(end + 1);
      code = await shell.run(line);
      if (shell.isOver) return code;
      await io.out(prompt);
      continue;
    }
    const bytes = await io.read();
    if (bytes === undefined) {
      await io.out("exit\n");
      return code;
    }
    typed += Buffer.from(bytes).toString("utf8");
  }
}

interface FileOutput {
  readonly write: (data: string | Uint8Array) => Promise<void>;
  /** False when the file could not be written. */
  readonly finish: () => boolean;
}

class Shell {
  readonly #name: string;
  readonly #io: CommandIo;
  readonly #find: FindProgram;
  #variables: Readonly<Record<string, string>>;
  #folder = "/";
  #code = 0;
  /** `exit` was said. */
  isOver = false;

  constructor(name: string, io: CommandIo, find: FindProgram) {
    this.#name = name;
    this.#io = io;
    this.#find = find;
    this.#variables = io.context.environment;
  }

  async run(text: string): Promise<number> {
    const script = parseScript(text);
    if ("problem" in script) {
      await this.#io.err(`${this.#name}: line 1: ${script.problem}\n`);
      return (this.#code = 2);
    }
    for (const pipeline of script) {
      const isDue =
        pipeline.after === "always" || (pipeline.after === "success") === (this.#code === 0);
      if (isDue) this.#code = await this.#pipeline(pipeline);
      if (this.isOver) break;
    }
    return this.#code;
  }

  async #pipeline({ commands }: Pipeline): Promise<number> {
    let source: Pipe | undefined;
    const running = commands.map((command, index) => {
      const input = source;
      const output = index < commands.length - 1 ? new Pipe() : undefined;
      source = output;
      return this.#command(command, input, output).finally(() => output?.end());
    });
    const codes = await Promise.all(running);
    return codes.at(-1) ?? 0;
  }

  async #command(
    command: SimpleCommand,
    input: Pipe | undefined,
    output: Pipe | undefined,
  ): Promise<number> {
    const words = await this.#expandAll(command.words);
    const files = await this.#redirect(command, input, output);
    if ("problem" in files) {
      await this.#io.err(`${this.#name}: ${files.problem}\n`);
      return 1;
    }
    const code = await this.#runWords(words, files.io);
    const unwritten = files.finish();
    if (unwritten === undefined) return code;
    await this.#io.err(`${this.#name}: line 1: ${unwritten}: Read-only file system\n`);
    return 1;
  }

  async #runWords(words: readonly string[], io: CommandIo): Promise<number> {
    const [first = "", ...rest] = words;
    if (first === "") return 0;
    const assigned = /^([A-Za-z_]\w*)=(.*)$/s.exec(first);
    if (assigned !== null && rest.length === 0) {
      this.#variables = { ...this.#variables, [assigned[1] ?? ""]: assigned[2] ?? "" };
      return 0;
    }
    if (first === "exit") {
      this.isOver = true;
      return Number(rest[0] ?? this.#code) & 255;
    }
    if (first === "export" || first === "set") return 0;
    if (first === "cd") {
      this.#folder = absolute(rest[0] ?? "/root", this.#folder);
      return 0;
    }
    if (first === "exec") return this.#runWords(rest, io);
    const program = this.#find(first);
    if (program === undefined) {
      await io.err(`${this.#name}: line 1: ${first}: command not found\n`);
      return 127;
    }
    const files = filesFrom(io.context.files, this.#folder);
    const context: CommandContext = { ...io.context, words, files, environment: this.#variables };
    return program({ ...io, context });
  }

  /** Where the command reads and writes; what was written to files is there when it has ended. */
  async #redirect(
    { redirections }: SimpleCommand,
    input: Pipe | undefined,
    output: Pipe | undefined,
  ): Promise<{ io: CommandIo; finish: () => string | undefined } | { problem: string }> {
    const files = filesFrom(this.#io.context.files, this.#folder);
    let { read, out, err } = this.#io;
    const write = (pipe: Pipe) => (data: string | Uint8Array) => pipe.write(bytesOf(data));
    if (input !== undefined) read = () => input.read();
    if (output !== undefined) out = write(output);
    const kept: { path: string; finish: () => boolean }[] = [];
    for (const { descriptor, operator, target } of redirections) {
      const path = (await this.#expand(target)).join(" ");
      if (operator === ">&") {
        if (descriptor === 2 && path === "1") err = out;
        else if (descriptor === 1 && path === "2") out = err;
      } else if (operator === "<") {
        const bytes = path === "/dev/null" ? Buffer.alloc(0) : files.readBytes(path);
        if (bytes === undefined) return { problem: `${path}: No such file or directory` };
        let rest: Uint8Array | undefined = bytes;
        read = async () => {
          const now = rest;
          rest = undefined;
          return now;
        };
      } else {
        const place = this.#fileOutput(path, operator === ">>");
        kept.push({ path, finish: place.finish });
        if (descriptor === 2) err = place.write;
        else out = place.write;
      }
    }
    const finish = (): string | undefined => kept.find((one) => !one.finish())?.path;
    return { io: { ...this.#io, read, out, err }, finish };
  }

  #fileOutput(path: string, isAppended: boolean): FileOutput {
    const files = filesFrom(this.#io.context.files, this.#folder);
    if (path === "/dev/stdout") return { write: this.#io.out, finish: () => true };
    if (path === "/dev/stderr") return { write: this.#io.err, finish: () => true };
    const chunks: Uint8Array[] = [];
    const write = async (data: string | Uint8Array): Promise<void> => {
      chunks.push(bytesOf(data));
    };
    if (path === "/dev/null") return { write, finish: () => true };
    const before = isAppended ? (files.readBytes(path) ?? Buffer.alloc(0)) : Buffer.alloc(0);
    return { write, finish: () => files.writeBytes(path, Buffer.concat([before, ...chunks])) };
  }

  async #expandAll(words: readonly (readonly WordPart[])[]): Promise<string[]> {
    const expanded: string[] = [];
    for (const parts of words) for (const word of await this.#expand(parts)) expanded.push(word);
    return expanded;
  }

  /** A variable or output without quotes falls apart at white space, and an empty one vanishes. */
  async #expand(parts: readonly WordPart[]): Promise<string[]> {
    const words: string[] = [];
    let current: string | undefined;
    for (const part of parts) {
      if (part.kind === "text") {
        current = (current ?? "") + part.text;
        continue;
      }
      const value =
        part.kind === "variable" ? this.#value(part.name) : await this.#output(part.line);
      if (part.isQuoted) {
        current = (current ?? "") + value;
        continue;
      }
      const pieces = value.split(/\s+/).filter((piece) => piece !== "");
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) {
          words.push(current ?? "");
          current = undefined;
        }
        current = (current ?? "") + piece;
      }
    }
    if (current !== undefined) words.push(current);
    return words;
  }

  #value(name: string): string {
    return name === "?" ? String(this.#code) : (this.#variables[name] ?? "");
  }

  async #output(line: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    const out = async (data: string | Uint8Array): Promise<void> => {
      chunks.push(bytesOf(data));
    };
    const inner = new Shell(this.#name, { ...this.#io, out }, this.#find);
    inner.#variables = this.#variables;
    inner.#folder = this.#folder;
    await inner.run(line);
    return Buffer.concat(chunks).toString("utf8").replace(/\n+$/, "");
  }
}

function absolute(path: string, folder: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

/** The same files with relative paths beginning in a folder. */
function filesFrom(files: CommandFiles, folder: string): CommandFiles {
  if (folder === "/") return files;
  const at = (path: string): string => absolute(path, folder);
  return {
    read: (path) => files.read(at(path)),
    readBytes: (path) => files.readBytes(at(path)),
    write: (path, text) => files.write(at(path), text),
    writeBytes: (path, bytes) => files.writeBytes(at(path), bytes),
    remove: (path) => files.remove(at(path)),
    makeFolder: (path) => files.makeFolder(at(path)),
    entries: (path) => files.entries(at(path)),
    locate: (path) => files.locate(at(path)),
  };
}
