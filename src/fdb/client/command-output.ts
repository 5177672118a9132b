// What the answers of fdbcli mean. Its exit code alone says little: errors come with code 0, progress comes on the
// error output. What is not understood is an error, never a guess. Rules: spec/real-database.md [DB40]-[DB43].
import { FdbError, fdbCommandFailed, namedFdbError } from "../error.ts";

export interface CommandResult {
  /** Undefined when it was ended by a signal or never ran. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** It had to be ended because its time was over. */
  readonly isLate: boolean;
}

const timeLimitText = "Specified timeout reached";
/** Lines that mean nothing but patience. */
const noise: readonly RegExp[] = [/^$/, /^WARNING: Long delay \(Ctrl-C to interrupt\)$/];
/** A code of FoundationDB: at the end in parentheses, or after the name of the cluster file. */
const codePattern = /\((\d{4})\)\s*$|cluster file `[^`']*': (\d{4}) /;

/** Resolves what `configure` answered: done, or why not. */
export function readConfigureAnswer(result: CommandResult): FdbError | undefined {
  const failure = readFailure(result);
  if (failure !== undefined) return failure;
  const lines = wordsOf(result.stdout);
  const isDone = lines.some((line) =>
    /^(Database created|Configuration changed(, with warnings)?)$/.test(line),
  );
  return isDone ? undefined : notUnderstood(result);
}

/** The version that a tool says it has. */
export function readVersionAnswer(result: CommandResult): string | undefined {
  if (result.code !== 0) return undefined;
  return /\(v(\d+\.\d+\.\d+(?:-rc\d+)?)\)/.exec(result.stdout)?.[1];
}

/** What went wrong, or undefined when nothing says so. */
export function readFailure(result: CommandResult): FdbError | undefined {
  const { code, stdout, stderr, isLate } = result;
  if (isLate || stderr.includes(timeLimitText)) return namedFdbError(1031);
  const complaints = wordsOf(stderr);
  const error = complaints.find((line) => line.startsWith("ERROR"));
  if (error !== undefined) return failed(error, complaints);
  if (code === 0) return undefined;
  const first = complaints[0] ?? wordsOf(stdout)[0];
  if (first === undefined) return notUnderstood(result);
  return failed(first, complaints);
}

function failed(line: string, complaints: readonly string[]): FdbError {
  const found = codePattern.exec(line);
  const code = Number(found?.[1] ?? found?.[2] ?? fdbCommandFailed);
  const rest = complaints.filter((each) => each !== line);
  return new FdbError(code, [line, ...rest].join("\n"));
}

function notUnderstood(result: CommandResult): FdbError {
  const { code, stdout, stderr } = result;
  const how = code === undefined ? "was ended by a signal" : `ended with code ${code}`;
  const said = [...wordsOf(stdout), ...wordsOf(stderr)].join(" ").slice(0, 500);
  const text = said === "" ? "and said nothing" : `and said what is not understood: ${said}`;
  return new FdbError(fdbCommandFailed, `fdbcli ${how} ${text}`);
}

function wordsOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !noise.some((pattern) => pattern.test(line)));
}
