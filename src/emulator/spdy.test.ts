// SPDY/3.1 as kubectl speaks it: frames in pieces, and headers with the protocol's dictionary.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dataFrame, pingFrame, replyFrame, resetFrame, SpdyReader } from "./spdy-frames.ts";
import type { SpdyFrame } from "./spdy-frames.ts";
import { SpdyHeaders } from "./spdy-headers.ts";

test("[WS18] frames are read whatever their pieces are", () => {
  const whole = Buffer.concat([
    dataFrame(1, Buffer.from("hello")),
    pingFrame(7),
    dataFrame(3, Buffer.alloc(0), true),
    resetFrame(5),
    replyFrame(9, Buffer.from("x")),
  ]);
  const wanted: SpdyFrame[] = [
    { type: "data", stream: 1, isLast: false, bytes: Buffer.from("hello") },
    { type: "ping", id: 7 },
    { type: "data", stream: 3, isLast: true, bytes: Buffer.alloc(0) },
    { type: "reset", stream: 5 },
    { type: "other" },
  ];
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.toSorted((left, right) => left - right), whole.length];
      const reader = new SpdyReader();
      const found = places.flatMap((place, index) =>
        reader.push(whole.subarray(place, places[index + 1] ?? whole.length)),
      );
      assert.deepEqual(found, wanted);
    }),
    { seed: 1 },
  );
  assert.throws(() => new SpdyReader().push(Buffer.from("8002000100000000", "hex")), /SPDY\/3/);
});

test("[WS18] header blocks are compressed with the dictionary of the protocol", async () => {
  const headers = new SpdyHeaders();
  const block = await headers.empty();
  // The identity of the dictionary, which every implementation writes after the first two bytes.
  assert.equal(block.subarray(2, 6).toString("hex"), "e3c6a7c2");
  await assert.rejects(headers.read(Buffer.from("no such block")));
  headers.close();
});
