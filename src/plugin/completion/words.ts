// Whether the program was called to complete what somebody is typing. Light: every call asks it.
// Rules: spec/plugin.md [VW18].

/** The words to complete; undefined when the program is to run. `names`: how it was called. */
export function wordsToComplete(
  names: readonly (string | undefined)[],
  args: readonly string[],
): readonly string[] | undefined {
  if (args[0] === "__complete") return args.slice(1);
  const isCompleter = /(^|[/\\])kubectl_complete-fdb(\.\w+)?$/;
  return names.some((name) => isCompleter.test(name ?? "")) ? args : undefined;
}
