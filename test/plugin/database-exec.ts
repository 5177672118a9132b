// `fdbcli --exec "status json"` in pods of a simulated world, answered by its database; and logs that are followed by reading
// them again and again.
import { KubeError } from "../../src/kube/error.ts";
import type { PodStreams } from "../../src/kube/pod-exec.ts";
import type { TestWorld } from "../world/world-harness.ts";

export function databaseExec(world: TestWorld, name = "sample"): PodStreams {
  return {
    async run({ command }) {
      if (command[0] !== "fdbcli" || command.at(-1) !== "status json") {
        return { ...answer(`${command[0]}: not found`), exitCode: 127 };
      }
      const { spec, status } = await world.cluster({ name });
      const connectionString = status?.connectionString ?? "";
      const admin = world.world.fdb.admin.open({ name, connectionString, version: spec.version });
      try {
        return answer(JSON.stringify(await admin.status(10_000)));
      } finally {
        admin.close();
      }
    },
    open: () => Promise.reject(new KubeError(0, "Unsupported", "no sessions here")),
    async followLog({ namespace, pod, container, onLines, signal, tailLines }) {
      let seen = 0;
      for (let look = 0; look < 20; look += 1) {
        if (signal?.aborted === true) return;
        const options = { container, timestamps: true, limitBytes: 1e6, tailLines };
        const text = await world.client.podLog({ namespace, name: pod }, options);
        const lines = text.split("\n").filter((line) => line !== "");
        if (lines.length > seen) await onLines(lines.slice(seen));
        seen = lines.length;
        await new Promise<void>((resolve) => world.clock.setTimer(500, resolve));
      }
    },
  };
}

function answer(stdout: string): Awaited<ReturnType<PodStreams["run"]>> {
  return { stdout, stdoutBytes: Buffer.from(stdout), stderr: "", exitCode: 0 };
}
