// Lines of logs in every form that pods of FoundationDB write.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseLogLine } from "./log-line.ts";
import { LineBuffer, mergedLines } from "./log-merge.ts";
import type { SourceLine } from "./log-merge.ts";

const stamp = "2026-03-01T04:00:00.123456789Z";
const stampMs = Date.parse("2026-03-01T04:00:00.123Z");

const table: readonly [name: string, raw: string, severity: number, text: string][] = [
  ["plain text", `${stamp} starting up`, 10, "starting up"],
  ["nothing at all", stamp, 10, ""],
  [
    "a trace event as JSON",
    `${stamp} {"Severity":"40","Time":"1772337600.5","DateTime":"2026-03-01T04:00:00Z","Type":"IOError","Machine":"10.0.0.1:4501","ID":"00ab","Error":"disk full","ErrorCode":"1510","LogGroup":"default","Roles":"SS"}`,
    40,
    'IOError ID=00ab Error="disk full" ErrorCode=1510',
  ],
  [
    "a trace event as XML",
    `${stamp} <Event Severity="20" Time="1772337600.5" DateTime="2026-03-01T04:00:00Z" Type="SlowTask" ID="0" Note="&lt;a &amp; b&gt;" LogGroup="default" />`,
    20,
    'SlowTask ID=0 Note="<a & b>"',
  ],
  [
    "a line of the monitor",
    `${stamp} {"level":"error","ts":"2026-03-01T04:00:00Z","caller":"x.go:1","msg":"Subprocess exited","processNumber":1,"error":"exit status 1"}`,
    40,
    'Subprocess exited processNumber=1 error="exit status 1"',
  ],
  ["JSON that is cut", `${stamp} {"Severity":"40","Ty`, 10, '{"Severity":"40","Ty'],
  ["JSON that is no event", `${stamp} {"a":1}`, 10, '{"a":1}'],
  ["an event without a severity", `${stamp} <Event Type="A" />`, 10, '<Event Type="A" />'],
];

for (const [name, raw, severity, text] of table) {
  test(`[VW14] ${name} becomes a line`, () => {
    assert.deepEqual(parseLogLine(raw, 0), { atMs: stampMs, severity, text });
  });
}

test("[VW14] a line without a time of its own has that of its event, or of the one before it", () => {
  const event = '{"Severity":"10","Type":"A","DateTime":"2026-03-01T04:00:00Z"}';
  assert.equal(parseLogLine(event, 7).atMs, Date.parse("2026-03-01T04:00:00Z"));
  assert.equal(
    parseLogLine('{"Severity":"10","Type":"A","Time":"1772337600.5"}', 7).atMs,
    1772337600500,
  );
  assert.equal(parseLogLine('{"Severity":"10","Type":"A","Time":"12.5"}', 7).atMs, 7);
  assert.equal(parseLogLine("at nowhere (x.cpp:1)", 7).atMs, 7);
});

test("[VW15] a line cannot take over the terminal, nor fill it", () => {
  assert.equal(parseLogLine(`${stamp} \u001b[31mred\u001b[0m\u0007\r`, 0).text, "red");
  assert.equal(
    parseLogLine(`${stamp} {"Severity":"10","Type":"A\\u001b","B":"\\u001b[2J"}`, 0).text,
    "A B=",
  );
  const long = parseLogLine(`${stamp} ${"x".repeat(1_000_000)}`, 0).text;
  assert.equal(long.length, 4_000);
  assert.ok(long.endsWith("…"));
});

const line = (source: string, atMs: number, text = ""): SourceLine => ({
  ...{ source, atMs, text, severity: 10 },
});

test("[VW16] lines are merged by time, and those of one source keep their order", () => {
  const merged = mergedLines([
    [line("a", 1, "a1"), line("a", 5, "a2"), line("a", 3, "a3")],
    [line("b", 2, "b1"), line("b", 6, "b2")],
  ]);
  assert.deepEqual(
    merged.map(({ text }) => text),
    ["a1", "b1", "a2", "a3", "b2"],
  );
});

test("[VW16] what is followed waits for older lines, but not for ever and not without bound", () => {
  const buffer = new LineBuffer(3);
  buffer.add([line("a", 100, "a1")], 1_000);
  assert.deepEqual(buffer.take(999), []);
  buffer.add([line("b", 50, "b1")], 1_200);
  assert.deepEqual(
    buffer.take(1_000).map(({ text }) => text),
    ["b1", "a1"],
  );
  buffer.add(
    [1, 2, 3, 4, 5].map((at) => line("a", at, String(at))),
    2_000,
  );
  assert.deepEqual(
    buffer.take(0).map(({ text }) => text),
    ["1", "2"],
  );
});
