// Who we are towards the API server, as of now: token, certificate and the authority we trust are read again when their
// files change, and a sign-in that runs out is repeated. A program that lives for months must not die of a rotation.
// Carries rules KUBE15, KUBE83 and KUBE84.
import { readFileSync, statSync } from "node:fs";
import type { ExecCredential } from "./exec-credential.ts";
import type { KubeConnection } from "./kubeconfig.ts";

export interface TlsMaterial {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** A sign-in is repeated so long before it runs out, and after a failure not before this time. */
const earlyMs = 60_000;
const retryMs = 10_000;

export class Credentials {
  readonly #connection: KubeConnection;
  readonly #nowMs: () => number;
  readonly #tokenFile: WatchedFile | undefined;
  readonly #files: Readonly<Record<keyof TlsMaterial, WatchedFile | undefined>>;
  #signedIn: ExecCredential = {};
  #renewal: Promise<boolean> | undefined;
  #triedAtMs = -Infinity;
  #material: TlsMaterial;

  constructor(connection: KubeConnection, nowMs: () => number) {
    this.#connection = connection;
    this.#nowMs = nowMs;
    const { tokenFile, files = {}, expiresAtMs } = connection;
    const watch = (path: string | undefined, known?: string): WatchedFile | undefined =>
      path === undefined ? undefined : new WatchedFile(path, known);
    this.#tokenFile = watch(tokenFile);
    this.#files = {
      ca: watch(files.certificateAuthority, connection.certificateAuthority),
      cert: watch(files.clientCertificate, connection.clientCertificate),
      key: watch(files.clientKey, connection.clientKey),
    };
    this.#material = {
      ca: connection.certificateAuthority,
      cert: connection.clientCertificate,
      key: connection.clientKey,
    };
    if (expiresAtMs !== undefined) this.#signedIn = { expiresAtMs };
  }

  /** The Authorization header. A token file wins over a token. */
  async authorization(): Promise<string | undefined> {
    const { expiresAtMs } = this.#signedIn;
    if (expiresAtMs !== undefined && expiresAtMs - earlyMs < this.#nowMs()) await this.#renew();
    const token = this.#tokenFile?.text().trim() ?? this.#signedIn.token ?? this.#connection.token;
    return token === undefined ? undefined : `Bearer ${token}`;
  }

  /** The same object as before unless something changed. */
  material(): TlsMaterial {
    const { ca, cert, key } = this.#files;
    const fresh: TlsMaterial = {
      ca: ca?.text() ?? this.#material.ca,
      cert: this.#signedIn.clientCertificate ?? cert?.text() ?? this.#material.cert,
      key: this.#signedIn.clientKey ?? key?.text() ?? this.#material.key,
    };
    const held = this.#material;
    const isSame = fresh.ca === held.ca && fresh.cert === held.cert && fresh.key === held.key;
    if (!isSame) this.#material = fresh;
    return this.#material;
  }

  /** The server does not know us (401). Whether there is something new to show it. */
  async refused(): Promise<boolean> {
    const before = this.#tokenFile?.known;
    this.#tokenFile?.forget();
    if (this.#tokenFile !== undefined) return this.#tokenFile.text() !== before;
    return this.#renew();
  }

  /** One sign-in at a time. A failure keeps what we had: the server has the last word on it. */
  #renew(): Promise<boolean> {
    const { signInAgain } = this.#connection;
    if (this.#renewal !== undefined) return this.#renewal;
    if (signInAgain === undefined || this.#nowMs() - this.#triedAtMs < retryMs) {
      return Promise.resolve(false);
    }
    this.#triedAtMs = this.#nowMs();
    this.#renewal = signInAgain()
      .then(
        (credential) => {
          this.#signedIn = credential;
          return true;
        },
        () => false,
      )
      .finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }
}

/** The text of a file, read again when it is another one or was modified. */
class WatchedFile {
  readonly #path: string;
  #text: string | undefined;
  #mark = "";

  constructor(path: string, known: string | undefined) {
    this.#path = path;
    this.#text = known;
  }

  get known(): string | undefined {
    return this.#text;
  }

  /** The next look reads it whatever its times say. */
  forget(): void {
    this.#mark = "";
  }

  /** A file that cannot be read in the middle of its replacement is taken as it was. */
  text(): string {
    try {
      const { mtimeMs, ino, size } = statSync(this.#path);
      const mark = `${mtimeMs} ${ino} ${size}`;
      if (mark === this.#mark && this.#text !== undefined) return this.#text;
      this.#text = readFileSync(this.#path, "utf8");
      this.#mark = mark;
    } catch (error) {
      if (this.#text === undefined) throw error;
    }
    return this.#text;
  }
}
