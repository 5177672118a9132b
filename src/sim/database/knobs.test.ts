// Knobs that fdbserver leaves alone with a warning, and those that end it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { knobError, knobWarnings } from "./knobs.ts";

const memoryBytes = 8 * 2 ** 30;

for (const [name, value, warning] of [
  ["max_trace_lines", "12345", undefined],
  ["max_trace_lines", "0x10", undefined],
  ["max_trace_lines", "many", "WARNING: Invalid value 'many' for knob option 'max_trace_lines'"],
  ["max_trace_lines", "12a", "WARNING: Invalid value '12a' for knob option 'max_trace_lines'"],
  ["max_trace_lines", "", "WARNING: Invalid value '' for knob option 'max_trace_lines'"],
  ["MAX_TRACE_LINES", "1", "WARNING: Invalid knob option 'MAX_TRACE_LINES'"],
  ["min_available_space_ratio", "0.05", undefined],
  [
    "min_available_space_ratio",
    "5%",
    "WARNING: Invalid value '5%' for knob option 'min_available_space_ratio'",
  ],
  ["enable_clear_range_eager_reads", "False", undefined],
  [
    "enable_clear_range_eager_reads",
    "off",
    "WARNING: Invalid value 'off' for knob option 'enable_clear_range_eager_reads'",
  ],
  ["no_such_knob", "1", "WARNING: Invalid knob option 'no_such_knob'"],
] as const) {
  test(`[FDB60] knob ${name}=${value} ${warning === undefined ? "is taken" : "is left alone with a warning"}`, () => {
    assert.deepEqual(knobWarnings({ [name]: value }), warning === undefined ? [] : [warning]);
    assert.equal(knobError({ [name]: value }, memoryBytes), undefined);
  });
}

for (const [name, value, error] of [
  ["cache_eviction_policy", "lru", undefined],
  ["cache_eviction_policy", "fifo", /Invalid cache eviction policy/],
  ["page_cache_4k", "9000000000", /--memory has to be larger/],
  ["page_cache_4k", "1000000", undefined],
] as const) {
  test(`[FDB60] knob ${name}=${value} ${error === undefined ? "is taken" : "ends fdbserver"}`, () => {
    const found = knobError({ [name]: value }, memoryBytes);
    if (error === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", error);
  });
}
