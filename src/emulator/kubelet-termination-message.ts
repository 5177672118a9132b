// What a container leaves as its last words. Carries rules KUBELET80 and KUBELET105.
import type { Container } from "../kube/generated/types.ts";

const messageLinesMax = 80;
const messageBytesMax = 2048;

const fileBytesMax = 4096;

/** What it wrote to its file; or the end of the log, for a container that asked for it and failed. */
export function terminationMessage(
  container: Container,
  code: number,
  lines: readonly { readonly text: string }[],
  written: string | undefined,
): string | undefined {
  if (written !== undefined && written !== "") {
    return Buffer.from(written).subarray(0, fileBytesMax).toString("utf8");
  }
  if (container.terminationMessagePolicy !== "FallbackToLogsOnError" || code === 0)
    return undefined;
  const texts = lines.slice(-messageLinesMax).map(({ text }) => `${text}\n`);
  const bytes = Buffer.from(texts.join(""));
  return bytes.length === 0 ? undefined : bytes.subarray(-messageBytesMax).toString("utf8");
}
