// The parsers on captured answers of a real fdbcli: the exit code is not to be trusted.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfigureAnswer, readFailure, readVersionAnswer } from "./command-output.ts";
import type { CommandResult } from "./command-output.ts";

const folder = join(import.meta.dirname, "../../../test/data/fdb/cli");

function capture(name: string): CommandResult {
  const text = readFileSync(join(folder, `${name}.txt`), "utf8");
  const code = Number(/^### exit code: (-?\d+)$/m.exec(text)?.[1]);
  const stdout = /^### stdout.*?:\n(.*?)^### stderr/ms.exec(text)?.[1] ?? "";
  const stderr = /^### stderr.*?:\n(.*?)(?:^### end|$(?![\s\S]))/ms.exec(text)?.[1] ?? "";
  return { code: code < 0 ? undefined : code, stdout, stderr, isLate: false };
}

test("[DB40] an error on the error output is an error, also with exit code 0", () => {
  for (const name of [
    "exclude-malformed",
    "exclude-tls-suffix",
    "coordinators-set-bad",
    "coordinators-set-dup",
  ]) {
    const result = capture(name);
    assert.equal(result.code, 0, name);
    assert.match(readFailure(result)?.message ?? "", /^ERROR: /, name);
  }
});

test("[DB40] warnings and progress on the error output are no error", () => {
  for (const name of ["exclude-address-inprogress-no_wait", "configure-engine-back"]) {
    const result = capture(name);
    assert.notEqual(result.stderr.trim(), "", name);
    assert.equal(readFailure(result), undefined, name);
  }
});

test("[DB41] its time limit is FoundationDB's own timed_out, whether it noticed or was ended", () => {
  for (const name of [
    "configure-three-datacenter-accepted-then-stuck",
    "nodb-configure-double",
    "unreachable-get-timeout5",
    "no_halls-configure-tdh",
    "no_halls-configure-back-triple",
  ]) {
    assert.equal(readFailure(capture(name))?.code, 1031, name);
  }
  const hung = { code: undefined, stdout: "", stderr: "", isLate: true };
  assert.equal(readConfigureAnswer(hung)?.code, 1031);
});

test("[DB42] every captured answer to configure is understood", () => {
  const refused: Record<string, RegExp> = {
    "configure-bad-token": /^Usage: configure/,
    "configure-bad-token2": /^Usage: configure/,
    "configure-noargs": /^Usage: configure/,
    "configure-new-on-existing": /^ERROR: Database already exists/,
    "configure-back-ssd-disabled": /^ERROR: Storage engine type cannot be changed/,
    "configure-three-datacenter-accepted-then-stuck": /timed_out/,
  };
  const names = readdirSync(folder)
    .map((file) => file.replace(/\.txt$/, ""))
    .filter((name) => name.startsWith("configure-"));
  assert.ok(names.length >= 20);
  for (const name of names) {
    const failure = readConfigureAnswer(capture(name));
    const expected = refused[name];
    if (expected === undefined) assert.equal(failure, undefined, name);
    else assert.match(failure?.message ?? "nothing", expected, name);
  }
});

test("[DB42] an answer that is not known is refused, never taken for success", () => {
  const said = (stdout: string, stderr = ""): CommandResult => ({
    ...{ code: 0, stdout, stderr, isLate: false },
  });
  for (const result of [
    said(""),
    said("Configuration was changed, probably"),
    said("", "WARN: something new"),
    { ...said("Database created"), code: 1 },
    { ...said("Database created"), code: undefined },
    { ...said(""), code: undefined },
  ]) {
    assert.ok(readConfigureAnswer(result) !== undefined, JSON.stringify(result));
  }
});

test("[DB43] codes of FoundationDB and the causes of an abort are kept", () => {
  assert.equal(readFailure(capture("bad-cluster-file"))?.code, 2104);
  assert.equal(readFailure(capture("missing-cluster-file"))?.code, 1515);
  assert.equal(readFailure(capture("unknown-command"))?.code, 0);
  assert.match(readFailure(capture("tls-client-missing-cert-file"))?.message ?? "", /nonexistent/);
  assert.match(readFailure(capture("tls-client-no-cert-get"))?.message ?? "", /not configured/);
});

test("[DB1] a program tells its version", () => {
  assert.equal(readVersionAnswer(capture("version")), "7.3.79");
  assert.equal(readVersionAnswer({ ...capture("version"), code: undefined }), undefined);
  assert.equal(readVersionAnswer(capture("unknown-command")), undefined);
});
