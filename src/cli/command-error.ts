// A mistake of the person at the keyboard: shown as one line without a stack, with exit code 1 unless it says otherwise.

export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}
