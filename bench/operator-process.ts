// The operator alone in a process of its own, to see what it takes: the API server is reached over HTTPS, the database and
// the pods over a loopback connection to the parent process. The benchmark bundles this file.
import { destination } from "pino";
import { machineClock } from "../src/env/clock.ts";
import { pinoLog } from "../src/env/pino-log.ts";
import { machineNextTurn } from "../src/env/next-turn.ts";
import { machineRandom } from "../src/env/random.ts";
import { machineStopwatch } from "../src/env/stopwatch.ts";
import { httpsTransport } from "../src/kube/https.ts";
import { startOperator } from "../src/operate/operator.ts";
import { connectSimulated } from "../src/sim/remote/remote-databases.ts";
import type { FromOperator, ToOperator } from "./bridge.ts";
import { watchTurns } from "./turns.ts";

const ending = new AbortController();
const turns = watchTurns();

process.on("message", (message) => receive(message as ToOperator));
process.on("disconnect", () => process.exit());
send({ type: "ready" });

function receive(message: ToOperator): void {
  switch (message.type) {
    case "start":
      void start(message);
      return;
    case "measure":
      return measure();
    case "stop":
      return ending.abort();
  }
}

async function start({ connection, databasePort }: ToOperator & { type: "start" }): Promise<void> {
  const clock = machineClock();
  const log = pinoLog({ clock, destination: destination({ dest: "/dev/null", sync: true }) });
  const transport = httpsTransport(connection);
  const databases = await connectSimulated("127.0.0.1", databasePort, clock, log);
  const { admin, podNetwork } = databases;
  const operator = startOperator({
    ...{ transport, admin, podNetwork, clock, log },
    random: machineRandom(),
    ...{ stopwatch: machineStopwatch, nextTurn: machineNextTurn },
    signal: ending.signal,
  });
  await operator.started;
  send({ type: "started", cpuMs: cpuMs() });
  await operator.stopped;
  await databases.close();
  transport.close();
  process.disconnect();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function measure(): void {
  const { rss, heapUsed } = process.memoryUsage();
  send({
    type: "figures",
    figures: {
      rssBytes: rss,
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
      heapUsedBytes: heapUsed,
      cpuMs: cpuMs(),
      longestTurnMs: turns.longestMs(),
    },
  });
}

function send(message: FromOperator): void {
  process.send?.(message);
}
