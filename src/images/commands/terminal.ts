// A terminal between a person and a command: echoes what is typed, lets a line be corrected, hands it over at Enter, and
// ends lines as terminals want them. Rules: spec/streams.md [WS12].
import type { Command, CommandContext, RunningCommand } from "../../pod/container-command.ts";

const key = { interrupt: 3, endOfInput: 4, backspace: 8, enter: 13, eraseLine: 21, delete: 127 };

export function onTerminal(context: CommandContext, start: Command): RunningCommand {
  const show = async (text: string): Promise<void> => {
    await context.write("stdout", Buffer.from(text));
  };
  const running = start({
    ...context,
    write: (_stream, bytes) =>
      context.write(
        "stdout",
        Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
      ),
  });
  let line: number[] = [];
  const type = async (byte: number): Promise<void> => {
    switch (byte) {
      case key.interrupt:
        await show("^C\r\n");
        if (line.length === 0) return running.kill();
        line = [];
        return running.input(Buffer.from("\n"));
      case key.endOfInput:
        if (line.length === 0) running.endInput();
        return undefined;
      case key.backspace:
      case key.delete: {
        if (line.length === 0) return undefined;
        // The bytes of one character go together.
        while (((line.pop() ?? 0) & 0xc0) === 0x80 && line.length > 0);
        return show("\b \b");
      }
      case key.eraseLine: {
        const length = Buffer.from(line).toString("utf8").length;
        line = [];
        return show("\b \b".repeat(length));
      }
      case key.enter:
      case 10: {
        const typed = Buffer.from([...line, 10]);
        line = [];
        await show("\r\n");
        return running.input(typed);
      }
      default:
        if (byte < 32 && byte !== 9) return undefined;
        line.push(byte);
        await context.write("stdout", Buffer.of(byte));
        return undefined;
    }
  };
  let typing = Promise.resolve();
  return {
    ...running,
    // Keys in their order, however they come.
    input: (bytes) => {
      typing = typing.then(async () => {
        for (const byte of bytes) await type(byte);
      });
      return typing;
    },
  };
}
