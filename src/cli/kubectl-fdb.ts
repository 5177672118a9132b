// The kubectl plugin: kubectl finds a program called kubectl-fdb on the PATH and runs it for `kubectl fdb`. Called by the name
// kubectl_complete-fdb it completes what somebody is typing. Rules: spec/explain.md [E16], spec/plugin.md [VW18].
import { wordsToComplete } from "../plugin/completion/words.ts";
import { pluginProgram } from "./plugin-program.ts";
import { openHere, runProgram } from "./program.ts";

const words = wordsToComplete([process.argv0, process.argv[1]], process.argv.slice(2));
// Not awaited: an executable is a CommonJS module, which cannot await at its top.
if (words === undefined) void runProgram(pluginProgram(openHere));
else void complete(words);

async function complete(begun: readonly string[]): Promise<void> {
  const { machineClock } = await import("../env/clock.ts");
  const { completions } = await import("../plugin/completion/completion.ts");
  const clock = machineClock();
  process.stdout.write(await completions(pluginProgram(openHere), openHere, begun, clock));
  clock.stop();
}
