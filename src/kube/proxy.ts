// The way to the API server through a proxy: which one the environment names, and a tunnel through it (CONNECT), so that
// the proxy sees nothing but the server's name. Carries rules KUBE85 and KUBE86.
import * as http from "node:http";
import * as https from "node:https";
import { BlockList, isIP } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for this server: undefined when there is none, or when the server is one that is reached directly. */
export function proxyOfEnvironment(server: string, environment: Environment): string | undefined {
  const url = new URL(server);
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = valueOf(environment, name);
  if (proxy === undefined || isDirect(url, valueOf(environment, "NO_PROXY") ?? ""))
    return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name] ?? environment[name.toLowerCase()];
  return value === undefined || value === "" ? undefined : value;
}

/** Loopback is never behind a proxy. Entries are names with all names below them, addresses, networks, with or without port. */
function isDirect(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  if (host === "localhost" || isInNetwork(host, "127.0.0.0/8") || host === "::1") return true;
  return list
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
    .some((entry) => matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInNetwork(host, entry);
  const withPort = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(entry);
  if (withPort !== null && withPort[3] !== port) return false;
  const name = withPort?.[1] ?? withPort?.[2] ?? entry.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return name === host;
  const domain = name.replace(/^\*?\./, "");
  return host.endsWith(`.${domain}`) || (host === domain && !name.startsWith("."));
}

function isInNetwork(host: string, network: string): boolean {
  const [address = "", length = ""] = network.split("/");
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || !/^\d+$/.test(length)) return false;
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(length), family);
  } catch {
    // A length that no network has matches nothing.
    return false;
  }
  return list.check(host, family);
}

/** Connections through the proxy, encrypted to the server itself when it speaks TLS. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: URL;
  readonly #isEncrypted: boolean;

  constructor(proxy: string, isEncrypted: boolean, options: https.AgentOptions) {
    super(options);
    if (!isEncrypted) Object.assign(this, { protocol: "http:", defaultPort: 80 });
    this.#proxy = new URL(proxy);
    this.#isEncrypted = isEncrypted;
  }

  override createConnection(
    options: https.RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const done = callback as ((error: Error | null, stream?: Duplex) => void) | undefined;
    openTunnel(this.#proxy, String(options.host), Number(options.port)).then(
      (socket) => {
        if (!this.#isEncrypted) return done?.(null, socket);
        done?.(
          null,
          tls.connect({ ...(options as tls.ConnectionOptions), socket, path: undefined }),
        );
      },
      (error: Error) => done?.(error),
    );
  }
}

function openTunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const secret = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const headers: Record<string, string> = { host: target };
  if (proxy.username !== "") {
    headers["proxy-authorization"] = `Basic ${Buffer.from(secret).toString("base64")}`;
  }
  const module = proxy.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const call = module.request({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      method: "CONNECT",
      path: target,
      headers,
      agent: false,
      timeout: 30_000,
    });
    call.on("connect", (answer, socket: Socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        new Error(`the proxy ${proxy.host} refused the way to ${target}: ${answer.statusCode}`),
      );
    });
    call.on("timeout", () => call.destroy(new Error(`no answer from the proxy ${proxy.host}`)));
    call.on("error", reject);
    call.end();
  });
}
