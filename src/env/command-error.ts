// A mistake of the person at the keyboard: shown as one line without a stack. Exit code 1 for what was asked and did not work,
// 2 for a command line that cannot be meant.

export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** Flags that contradict each other or make no sense: nothing was tried. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, 2);
  }
}
