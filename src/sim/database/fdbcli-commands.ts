// The commands of the simulated fdbcli, as far as the simulated database knows them. Rules: spec/streams.md [WS15].
import type { AdminClient } from "../../fdb/admin.ts";
import { bytesOfBinary, printableBytes } from "../../fdb/bytes.ts";
import { parseConnectionString } from "./network-address.ts";
import type { Fabric } from "./fabric.ts";
import { forceRecovery } from "./force-recovery.ts";
import { statusText } from "./fdbcli-status.ts";

export interface FdbcliSession {
  readonly fabric: Fabric;
  readonly admin: AdminClient;
  readonly clusterFile: string;
  isWriteMode: boolean;
  /** The option ACCESS_SYSTEM_KEYS is on. */
  accessesSystemKeys: boolean;
  /** Addresses that `kill` without words has listed; only those can be killed. */
  knownAddresses: Set<string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Writes the cluster file again after a change of coordinators. */
  readonly keepConnection: (text: string) => void;
  readonly isOver: () => boolean;
}

/** Without --timeout the real one waits for ever; a session ends with whoever opened it. */
const patienceMs = 24 * 3_600_000;
const statusMs = 60_000;

type Command = (session: FdbcliSession, words: readonly string[], text: string) => Promise<boolean>;

/** At semicolons outside of quotes. */
export function splitCommands(text: string): string[] {
  const commands = text.match(/(?:"(?:\\.|[^"\\])*"|\\.|[^;"\\])+/gs) ?? [];
  return commands.map((command) => command.trim()).filter((command) => command !== "");
}

/** False when the command failed; the words why are written then. */
export async function runFdbcliCommand(session: FdbcliSession, text: string): Promise<boolean> {
  const [name = "", ...words] = text.split(/\s+/);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command(session, words, text.slice(name.length).trim());
  session.err(`ERROR: Unknown command \`${name}'. Try \`help'?\n`);
  return false;
}

const status: Command = async ({ admin, out, clusterFile }, [form]) => {
  const found = await admin.status(statusMs);
  if (form === "json") out(`${JSON.stringify(found, undefined, 2)}\n`);
  else out(statusText(found, form === "minimal" ? undefined : clusterFile));
  return true;
};

const kill: Command = async (session, words) => {
  const { admin, out, err, knownAddresses } = session;
  if (words.length === 0 || words[0] === "list") {
    const processes = Object.values((await admin.status(statusMs)).cluster?.processes ?? {});
    session.knownAddresses = new Set(
      processes
        .flatMap(({ address }) => (address === undefined ? [] : [plain(address)]))
        .toSorted(),
    );
    const { size } = session.knownAddresses;
    if (size === 0) out("\nNo addresses can be killed.\n");
    else if (size === 1) out("\nThe following address can be killed:\n");
    else out(`\nThe following ${size} addresses can be killed:\n`);
    out(`${[...session.knownAddresses].map((address) => `${address}\n`).join("")}\n`);
    return true;
  }
  if (words[0] === "all" && knownAddresses.size === 0) {
    err(
      "ERROR: no processes to kill. You must run the `kill' command before running `kill all'.\n",
    );
    return false;
  }
  const wanted = words[0] === "all" ? [...knownAddresses] : words.map(plain);
  const unknown = wanted.find((address) => !knownAddresses.has(address));
  if (unknown !== undefined) {
    err(`ERROR: process \`${unknown}' not recognized.\n`);
    return false;
  }
  await admin.kill(wanted, patienceMs);
  out(`Attempted to kill ${wanted.length} processes\n`);
  return true;
};

function plain(address: string): string {
  return address.replace(/:tls$/, "");
}

const exclude: Command = async ({ admin, out }, words) => {
  const targets = words.filter((word) => word !== "failed" && word !== "no_wait");
  if (targets.length === 0) {
    const excluded = await admin.excluded(patienceMs);
    const list = excluded.map((target) => `  ${target}\n`).join("");
    const many = `There are currently ${excluded.length} servers or localities being excluded from the database:\n`;
    const none = "There are currently no servers or localities excluded from the database.\n";
    out(excluded.length === 0 ? none : `${many}${list}`);
    out("To find out whether it is safe to remove one or more of these\n");
    out("servers from the cluster, type `exclude <addresses>'.\n");
    out("To return one of these servers to the cluster, type `include <addresses>'.\n");
    return true;
  }
  const wait = !words.includes("no_wait");
  await admin.exclude(targets, { wait, timeoutMs: patienceMs });
  for (const target of targets) {
    const state = wait
      ? "Successfully excluded. It is now safe to remove this process from the cluster."
      : "Exclusion in progress. It is not safe to remove this process yet.";
    out(`  ${target}  ---- ${state}\n`);
  }
  return true;
};

const include: Command = async ({ admin }, words) => {
  await admin.include(
    words.filter((word) => word !== "failed"),
    patienceMs,
  );
  return true;
};

const coordinators: Command = async ({ admin, out, err, keepConnection }, words) => {
  if (words.length === 0) {
    const connection = parseConnectionString(await admin.connectionString(patienceMs));
    const list = (await admin.connectionString(patienceMs)).split("@")[1] ?? "";
    out(`Cluster description: ${connection?.description ?? ""}\n`);
    out(`Cluster coordinators (${connection?.coordinators.length ?? 0}): ${list}\n`);
    out("Type `help coordinators' to learn how to change this information.\n");
    return true;
  }
  if (words.some((word) => word === "auto" || word.startsWith("description="))) {
    err(
      "ERROR: name the addresses of the coordinators; the simulated database chooses none itself\n",
    );
    return false;
  }
  keepConnection(await admin.changeCoordinators(words, patienceMs));
  out("Coordination state changed\n");
  return true;
};

const configure: Command = async ({ admin, out }, _words, text) => {
  await admin.configure(text, patienceMs);
  out(/^new\b/.test(text) ? "Database created\n" : "Configuration changed\n");
  return true;
};

const maintenance: Command = async ({ admin, out, err }, words) => {
  const [act, zone, seconds] = words;
  if (act === "off") await admin.resetMaintenanceZone(patienceMs);
  else if (act === "on" && zone !== undefined && Number(seconds) > 0) {
    await admin.setMaintenanceZone(zone, Number(seconds), patienceMs);
  } else {
    err("Usage: maintenance on <ZONEID> <SECONDS>, or maintenance off\n");
    return false;
  }
  out(act === "off" ? "Maintenance mode ended.\n" : `Maintenance mode for zone ${zone} set.\n`);
  return true;
};

const forceRecoveryWithDataLoss: Command = async ({ fabric, admin, err }, [datacenter]) => {
  if (datacenter === undefined) {
    err("Usage: force_recovery_with_data_loss <DCID>\n");
    return false;
  }
  const problem = await forceRecovery(fabric, await admin.connectionString(patienceMs), datacenter);
  if (problem !== undefined) err(`${problem}\n`);
  return problem === undefined;
};

const get: Command = async ({ admin, out }, [key = ""]) => {
  const value = await admin.transact((transaction) => transaction.get(keyOf(key)), {
    timeoutMs: patienceMs,
    readSystemKeys: true,
  });
  if (value === undefined) out(`\`${key}': not found\n`);
  else out(`\`${key}' is \`${printableBytes(value)}'\n`);
  return true;
};

function writer(needs: number, usage: string, write: "set" | "clear"): Command {
  return async ({ admin, out, err, isWriteMode, accessesSystemKeys }, words) => {
    if (!isWriteMode) {
      err("ERROR: writemode must be enabled to set or clear keys in the database.\n");
      return false;
    }
    const [key = "", value = ""] = words;
    if (words.length !== needs) {
      err(`Usage: ${usage}\n`);
      return false;
    }
    const body = async (transaction: Parameters<Parameters<AdminClient["transact"]>[0]>[0]) => {
      if (write === "set") transaction.set(keyOf(key), keyOf(value));
      else transaction.clear(keyOf(key));
    };
    await admin.transact(body, {
      timeoutMs: patienceMs,
      ...(accessesSystemKeys ? { accessSystemKeys: true } : {}),
    });
    out(`Committed\n`);
    return true;
  };
}

/** \xNN stands for a byte. */
function keyOf(text: string): Uint8Array {
  const bytes = text
    .replace(/^"(.*)"$/s, "$1")
    .replaceAll(/\\x([0-9a-fA-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
  return bytesOfBinary(bytes);
}

const commands: Readonly<Record<string, Command>> = {
  ...{ status, kill, exclude, include, coordinators, configure, maintenance, get },
  force_recovery_with_data_loss: forceRecoveryWithDataLoss,
  set: writer(2, "set <KEY> <VALUE>", "set"),
  clear: writer(1, "clear <KEY>", "clear"),
  writemode: async (session, [mode]) => {
    session.isWriteMode = mode === "on";
    return true;
  },
  option: async (session, [state, name = ""]) => {
    if (name.toUpperCase() !== "ACCESS_SYSTEM_KEYS" || !["on", "off"].includes(state ?? "")) {
      session.err("ERROR: the simulated database knows the option ACCESS_SYSTEM_KEYS alone\n");
      return false;
    }
    session.accessesSystemKeys = state === "on";
    session.out("Option enabled for all transactions\n");
    return true;
  },
  sleep: async ({ fabric }, [seconds]) => {
    await new Promise<void>(
      (resolve) => void fabric.clock.setTimer(Number(seconds) * 1000, resolve),
    );
    return true;
  },
  help: async ({ out }) => {
    const names = Object.keys(commands).toSorted();
    out(`The simulated database knows these commands: ${names.join(", ")}.\n`);
    return true;
  },
};
