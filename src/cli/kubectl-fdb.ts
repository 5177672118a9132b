// The kubectl plugin: kubectl finds a program called kubectl-fdb on the PATH and runs it for `kubectl fdb`.
// Rules: spec/explain.md [E16].
import {
  addBackupCommands,
  addCoordinationCommands,
  addExplainCommand,
  newProgram,
  runProgram,
} from "./program.ts";

const program = newProgram("kubectl fdb", "Looks at FoundationDB clusters on Kubernetes.");
addExplainCommand(program);
addCoordinationCommands(program);
addBackupCommands(program);
await runProgram(program);
