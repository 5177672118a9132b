// The judgement over the present coordinators.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DatabaseStatus, StatusProcess } from "./database-status.ts";
import { formatAddress } from "./address.ts";
import {
  announcedAddress,
  coordinatorAddressOf,
  judgeCoordinators,
} from "./coordinator-validity.ts";
import type { CoordinatorJudgement, CoordinatorRules } from "./coordinator-validity.ts";

function member(n: number, more: StatusProcess = {}): StatusProcess {
  return {
    address: `10.0.0.${n}:4501`,
    class_type: "storage",
    command_line: `/usr/bin/fdbserver --public_address=[10.0.0.${n}]:4501`,
    locality: { zoneid: `z${n}`, dns_name: `pod-${n}.c` },
    ...more,
  };
}

const rules: CoordinatorRules = {
  count: 3,
  hardLimits: { zoneid: 1 },
  usesTls: false,
  usesDns: false,
};
const byAddress = [1, 2, 3].map((n) => `10.0.0.${n}:4501`);
const byName = [1, 2, 3].map((n) => `pod-${n}.c:4501`);

function judge(
  coordinators: readonly string[],
  more: Partial<CoordinatorRules> = {},
  changed: StatusProcess = {},
): CoordinatorJudgement {
  const processes = { a: member(1), b: member(2), c: member(3, changed), d: member(4) };
  const status: DatabaseStatus = { cluster: { processes } };
  return judgeCoordinators(status, coordinators, { ...rules, ...more });
}

test("[M66] coordinators must be live, eligible, in separate zones and in the right number", () => {
  assert.deepEqual(judge(byAddress), { isValid: true, areAddressesValid: true, problems: [] });
  const wrong: [string, CoordinatorJudgement][] = [
    ["is excluded", judge(byAddress, {}, { excluded: true })],
    ["has the class", judge(byAddress, {}, { class_type: "stateless" })],
    ["2 coordinators share zoneid", judge(byAddress, {}, { locality: { zoneid: "z1" } })],
    ["no live process", judge([...byAddress, "10.0.0.9:4501"])],
    ["3 zones instead of 5", judge(byAddress, { count: 5 })],
  ];
  for (const [text, { isValid, problems }] of wrong) {
    assert.ok(
      !isValid && problems.some((each) => each.includes(text)),
      `${text}: ${problems.join("; ")}`,
    );
  }
});

test("[M67] a coordinator is recognised in all its forms", () => {
  assert.ok(judge(byName, { usesDns: true }).isValid);
  const marked = byAddress.map((address) => `${address}(fromHostname)`);
  assert.deepEqual(judge(marked).problems, []);
});

test("[M68] coordinators are given by name exactly where names are wanted", () => {
  assert.ok(!judge(byAddress, { usesDns: true }).isValid);
  assert.ok(!judge(byName).isValid);
  const process = member(1);
  const address = announcedAddress(process, false);
  assert.ok(address);
  assert.equal(formatAddress(coordinatorAddressOf(process, address, true)), "pod-1.c:4501");
  assert.equal(formatAddress(coordinatorAddressOf(process, address, false)), "10.0.0.1:4501");
});

test("[M69] a process without an address of the wanted kind makes the addresses invalid", () => {
  assert.ok(!judge(byAddress, { usesTls: true }).areAddressesValid);
  assert.ok(!judge(byAddress, {}, { command_line: "fdbserver" }).areAddressesValid);
  assert.ok(
    judge(byAddress, {}, { command_line: "fdbserver", class_type: "test" }).areAddressesValid,
  );
});
