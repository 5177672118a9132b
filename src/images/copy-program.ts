// `cp FROM TO` as the program of a container. Carries rule KUBELET105.
import type { Program } from "../pod/container-program.ts";

export const runCopy: Program = ({ command, args, files, writeLog, exit, clock }) => {
  const [, from = "", to = ""] = [...command, ...args];
  const timer = clock.setTimer(0, () => {
    const text = files.read(from);
    if (text === undefined) writeLog(`cp: cannot stat '${from}': No such file or directory`);
    else files.write(to, text);
    exit(text === undefined ? 1 : 0);
  });
  return {
    terminate: () => {
      timer.cancel();
      exit(143);
    },
    kill: () => timer.cancel(),
  };
};
