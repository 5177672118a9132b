// fdbmonitor's configuration file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readMonitorConf } from "./fdbmonitor-conf.ts";

test("[KUBELET45] sections, shared settings, own settings, order and flags", () => {
  const servers = readMonitorConf(`
# comment
[general]
kill_on_configuration_change = false
restart-delay = 60
[fdbserver]
command = /usr/bin/fdbserver
public_address = 10.0.0.1:$ID
[fdbserver.4500]
class = log
a = b = c
flag_verbose = true
flag_quiet = false
restart_delay = 5
[fdbserver.4501]
command = /other/fdbserver
[backup_agent.1]
x = y
`);
  assert.deepEqual(servers, [
    {
      section: "fdbserver.4500",
      command: "/usr/bin/fdbserver",
      args: ["--a=b = c", "--class=log", "--verbose", "--public_address=10.0.0.1:4500"],
      restartDelaySeconds: 5,
      isKilledOnChange: false,
    },
    {
      section: "fdbserver.4501",
      command: "/other/fdbserver",
      args: ["--public_address=10.0.0.1:4501"],
      restartDelaySeconds: 60,
      isKilledOnChange: false,
    },
  ]);
  assert.deepEqual(readMonitorConf(""), []);
});
