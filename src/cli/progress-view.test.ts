// What a person sees while a cluster comes up.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { formatElapsed, renderBrief, renderProgress } from "./progress-view.ts";
import type { ProgressState } from "./progress-view.ts";
import { openOutput } from "./terminal.ts";

const state: ProgressState = {
  name: "sample",
  version: "7.3.63",
  redundancyMode: "double",
  elapsedMs: 72_000,
  classes: [
    { processClass: "log", desired: 4, ready: 4, troubles: {} },
    {
      processClass: "storage",
      desired: 3,
      ready: 1,
      troubles: { PodPending: 2, MissingProcesses: 2 },
    },
  ],
  conditions: [
    { type: "Available", status: "False", reason: "NotConfigured", message: "no database yet" },
  ],
  waits: [
    { step: "addPods", reason: "PodPending", message: "2 pods have no node", waitedMs: 5_000 },
  ],
  actions: ["create pod a", "create pod b"],
};

test("[CLI1] progress shows process groups by class, conditions, what was done and what is waited for", () => {
  assert.deepEqual(renderProgress(state, { width: 120, hasColor: false }), [
    "sample  7.3.63  double  01:12",
    "",
    "  log                ●●●●                4 of 4",
    "  storage            ●○○                 1 of 3  MissingProcesses 2, PodPending 2",
    "",
    "  Available          False    NotConfigured: no database yet",
    "",
    "  did    create pod a",
    "  did    create pod b",
    "",
    "  waits  addPods: 2 pods have no node (00:05)",
  ]);
});

test("[MU10] several clusters are shown with few lines each", () => {
  assert.deepEqual(renderBrief({ ...state, name: "az1/sample" }, { width: 120, hasColor: false }), [
    "az1/sample  7.3.63  double  log 4 of 4  storage 1 of 3",
    "  did    create pod a",
    "  did    create pod b",
    "  waits  2 pods have no node (addPods)",
  ]);
});

test("[CLI1] no line is wider than the terminal, colours not counted", () => {
  for (const hasColor of [true, false]) {
    for (const line of renderProgress(state, { width: 40, hasColor })) {
      // oxlint-disable-next-line no-control-regex -- colours are escape sequences
      assert.ok(line.replaceAll(/\u001b\[[0-9;]*m/g, "").length <= 40, line);
    }
  }
});

test("[CLI1] a narrow terminal still shows the counts of a class", () => {
  const lines = renderProgress(state, { width: 39, hasColor: false });
  assert.equal(lines[2], "  log          ●●●●        4 of 4");
});

test("[CLI2] the live region is never higher than the screen, so that all of it can be redrawn", () => {
  const written: string[] = [];
  const stream = {
    isTTY: true,
    columns: 80,
    rows: 4,
    write: (text: string) => void written.push(text),
  };
  const output = openOutput(stream, false);
  output.live(["1", "2", "3", "4", "5"]);
  output.live(["6"]);
  assert.deepEqual(written, ["1\n2\n3\n", "\u001b[3A\u001b[0J6\n"]);
});

test("[CLI1] a long time is shown with hours", () => {
  assert.equal(formatElapsed(3_725_000), "1:02:05");
});

test("[CLI2] piped output is plain lines and a terminal redraws its region", () => {
  const piped: string[] = [];
  const plain = openOutput({ write: (text) => piped.push(text) }, true);
  plain.live(["region"]);
  plain.line("done");
  assert.deepEqual(piped, ["done\n"]);

  const drawn: string[] = [];
  const live = openOutput({ isTTY: true, columns: 80, write: (text) => drawn.push(text) }, true);
  live.live(["one", "two"]);
  live.live(["three"]);
  live.line("done");
  assert.deepEqual(drawn, ["one\ntwo\n", "\u001b[2A\u001b[0Jthree\n", "\u001b[1A\u001b[0Jdone\n"]);
});
