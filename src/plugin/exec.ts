// `kubectl fdb exec`: a command, or a shell, in some pod of a cluster. Rules: spec/plugin.md [PL64].
import { mainContainerName } from "../build/normalise.ts";
import { CommandError } from "../env/command-error.ts";
import { podName, runningPods } from "./pod-commands.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

export async function runExec(
  session: Session,
  { fdbCluster }: { fdbCluster: string },
  given: readonly string[],
): Promise<void> {
  const { out, namespace, signal } = session;
  const cluster = await readCluster(session, fdbCluster);
  const [pod] = await runningPods(session, cluster);
  if (pod === undefined) {
    throw new CommandError(`no pod of ${namespace}/${fdbCluster} runs`);
  }
  const hasTerminal = out.isTerminal && out.canAsk;
  const running = await session.exec.open({
    ...{ namespace, pod: podName(pod), container: mainContainerName, hasTerminal, signal },
    command: given.length > 0 ? given : ["bash"],
    hasInput: true,
    onOutput: (stream, bytes) => out.pass(stream, bytes),
  });
  const keyboard = out.giveKeyboard(hasTerminal, {
    onBytes: (bytes) => running.write(bytes),
    onEnd: () => running.endInput(),
    onResize: (size) => running.resize(size),
  });
  try {
    const code = await running.exited;
    if (code !== 0) throw new CommandError(`the command ended with exit code ${code}`, code);
  } finally {
    keyboard.takeBack();
  }
}
