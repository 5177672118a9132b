// `cp FROM TO` as the program of a container. Carries rule KUBELET105.
import type { Program } from "../pod/container-program.ts";

export const runCopy: Program = (context) => {
  const { files } = context;
  const [, from = "", to = ""] = [...context.command, ...context.args];
  const timer = context.clock.setTimer(0, () => {
    const text = files.read(from);
    if (text === undefined)
      context.writeLog(`cp: cannot stat '${from}': No such file or directory`);
    else files.write(to, text);
    context.exit(text === undefined ? 1 : 0);
  });
  return {
    terminate: () => {
      timer.cancel();
      context.exit(143);
    },
    kill: () => timer.cancel(),
  };
};
