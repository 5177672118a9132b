// What a container that failed leaves as its last words. Carries rule KUBELET80.
import type { Container } from "../kube/generated/types.ts";

const messageLinesMax = 80;
const messageBytesMax = 2048;

/** The end of the log, for a container that asked for it and failed. */
export function terminationMessage(
  container: Container,
  code: number,
  lines: readonly { readonly text: string }[],
): string | undefined {
  if (container.terminationMessagePolicy !== "FallbackToLogsOnError" || code === 0)
    return undefined;
  const texts = lines.slice(-messageLinesMax).map(({ text }) => `${text}\n`);
  const bytes = Buffer.from(texts.join(""));
  return bytes.length === 0 ? undefined : bytes.subarray(-messageBytesMax).toString("utf8");
}
