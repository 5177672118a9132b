// The kubectl plugin: kubectl finds a program called kubectl-fdb on the PATH and runs it for `kubectl fdb`.
// Rules: spec/explain.md [E16].
import { pluginProgram } from "./plugin-program.ts";
import { openHere, runProgram } from "./program.ts";

await runProgram(pluginProgram(openHere));
