// What init containers and sidecars do first: copying files and binaries into a volume that they
// share with the main container.
import type { ProgramContext } from "../pod/container-program.ts";
import { joinPath } from "../pod/container-program.ts";

export interface InputCopy {
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly files: readonly string[];
  /** These must have content. */
  readonly nonEmptyFiles: readonly string[];
  /** Names in /usr/bin. */
  readonly binaries: readonly string[];
  /** Below the output directory. */
  readonly binaryDirectory: string;
}

/** Returns what went wrong, if anything did. */
export function copyInputs(context: ProgramContext, copy: InputCopy): string | undefined {
  return copyFiles(context, copy) ?? copyBinaries(context, copy);
}

export function copyFiles({ files }: ProgramContext, copy: InputCopy): string | undefined {
  for (const name of copy.files) {
    const source = joinPath(copy.inputDirectory, name);
    const text = files.read(source);
    if (text === undefined) return `no such file: ${source}`;
    if (text === "" && copy.nonEmptyFiles.includes(name)) return `the file ${source} is empty`;
    const target = joinPath(copy.outputDirectory, name);
    if (!files.write(target, text)) return `cannot write ${target}: read-only file system`;
  }
  return undefined;
}

function copyBinaries({ files }: ProgramContext, copy: InputCopy): string | undefined {
  for (const name of copy.binaries) {
    const source = joinPath("/usr/bin", name);
    const text = files.read(source);
    if (text === undefined) return `no such file: ${source}`;
    const target = joinPath(copy.outputDirectory, copy.binaryDirectory, name);
    if (!files.write(target, text)) return `cannot write ${target}: read-only file system`;
  }
  return undefined;
}
