// A stand-in for the client process that behaves as the description in its connection string says. Tests only.
import type { ChildMessage, ChildRequest, ChildStart } from "./child-messages.ts";

let behaviour = "";
let startedBefore = false;

process.on("message", (message: ChildStart | ChildRequest) => {
  if (message.type === "start") {
    behaviour = message.connectionString.split(":")[0] ?? "";
    // Each start has a folder of its own; the test's counter is in the description.
    startedBefore = message.connectionString.includes("again");
    if (behaviour === "never-ready") return;
    say({ type: "ready", version: "7.3.79" });
  } else if (message.name === "ping") {
    if (behaviour !== "deaf") answer(message, { rssBytes: process.memoryUsage.rss() });
  } else {
    act(message);
  }
});
process.once("disconnect", () => process.exit(0));

function act(request: ChildRequest): void {
  const isFirst = !startedBefore;
  if (behaviour === "crash" && isFirst) process.kill(process.pid, "SIGSEGV");
  else if (behaviour === "exit" && isFirst) process.exit(3);
  else if (behaviour === "garbage") process.send?.("what a lovely day");
  else if (behaviour === "busy") for (;;);
  else if (behaviour !== "slow") answer(request, { client: { timestamp: process.pid } });
}

function answer(request: ChildRequest, output: unknown): void {
  say({ type: "answer", id: request.id, output });
}

function say(message: ChildMessage): void {
  process.send?.(message);
}
