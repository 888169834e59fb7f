/**
 * A client of hearthd in one file, for Node 18 and later, without dependencies. Copy it into your program.
 *
 *     const hearth = await Hearth.connect();
 *     const token = await hearth.getToken("work", { url: "https://api.example.com/me" });
 *     const answer = await hearth.request("work", "GET", "https://api.example.com/me");
 *     for await (const event of follow("work")) console.log(event.method);
 *
 * Every failure is a `HearthError` with a sentence for the user.
 */

import { Buffer } from "node:buffer";
import { stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

type JSONObject = Record<string, any>;

/** The reason why a call failed. `code` is undefined if the daemon did not answer. */
export class HearthError extends Error {
  /** The kind of error, such as "locked" or "reauthRequired". "programs.md" lists all kinds. */
  readonly kind?: string;
  /** Whether the same call may succeed later without user action. */
  readonly retryable: boolean;
  /** What the user can do: "signIn", "unlock", "wait" or "fixConfiguration". */
  readonly action?: string;

  constructor(message: string, readonly code?: number, data: JSONObject = {}) {
    super(message);
    this.name = "HearthError";
    this.kind = data.kind ?? undefined;
    this.retryable = Boolean(data.retryable ?? code === undefined);
    this.action = data.action ?? undefined;
  }
}

/** An access token. Printing the object or converting it to JSON does not reveal it. */
export class Token {
  readonly #accessToken: string;
  readonly tokenType: string;
  /** Identifies the token in logs and for `reportUnauthorized`. */
  readonly fingerprint: string;
  /** The time at which the token expires (RFC 3339), or null if it is unknown. */
  readonly expiresAt: string | null;

  constructor(result: JSONObject) {
    this.#accessToken = result.accessToken;
    this.tokenType = result.tokenType;
    this.fingerprint = result.fingerprint;
    this.expiresAt = result.expiresAt ?? null;
  }

  /** The secret token. Send it immediately, and do not store it. */
  get accessToken(): string {
    return this.#accessToken;
  }

  get authorization(): string {
    return `${this.tokenType} ${this.#accessToken}`;
  }
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
  /** Whether the response is cached. Hearth returns one only if the call sets `cache` (see "programs.md"). */
  fromCache: boolean;
}

/** `method` is "snapshot" for the first event, then the name of the change. */
export type HearthEvent = { method: string } & JSONObject;

/** A connection to the user's daemon, for any number of concurrent calls. */
export class Hearth {
  readonly #calls = new Map<number, { resolve(result: JSONObject): void; reject(error: HearthError): void }>();
  readonly #events: HearthEvent[] = [];
  #last = 0;
  #wake = (): void => {};
  #end?: HearthError;

  private constructor(readonly socket: Socket, readonly timeout: number) {
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#read(JSON.parse(line));
    });
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => {
      this.#end = new HearthError("The daemon has stopped.");
      for (const call of this.#calls.values()) call.reject(this.#end);
      this.#wake();
    });
  }

  /** Connects to the daemon through the socket at `path`. `timeout` limits each call, in milliseconds. */
  static async connect(path = socketPath(), timeout = 60_000): Promise<Hearth> {
    try {
      const { uid } = await stat(path); // Node cannot read SO_PEERCRED
      if (uid !== process.getuid?.()) {
        throw new HearthError(`The socket belongs to another user (${uid}).`, undefined, { retryable: false });
      }
      const socket = connect(path);
      await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      return new Hearth(socket, timeout);
    } catch (error) {
      if (error instanceof HearthError) throw error;
      throw new HearthError(`No daemon answers: ${(error as Error).message}. Start hearthd.`);
    }
  }

  close(): void {
    this.socket.destroy();
  }

  /** Calls any method that "programs.md" describes. Undefined parameters are omitted. */
  call(method: string, params: JSONObject = {}): Promise<JSONObject> {
    if (this.#end) return Promise.reject(this.#end);
    const id = ++this.#last;
    let timer: NodeJS.Timeout;
    return new Promise<JSONObject>((resolve, reject) => {
      timer = setTimeout(() => reject(new HearthError("The daemon does not answer.")), this.timeout);
      this.#calls.set(id, { resolve, reject });
      this.socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    }).finally(() => (clearTimeout(timer), this.#calls.delete(id)));
  }

  /** Returns a token. If the current one expires within a minute, or within `minValiditySeconds`, Hearth refreshes it
   * first. If `url` is given, the call fails unless the account's `api_origins` contain the URL's origin. */
  async getToken(account: string, options: { url?: string; minValiditySeconds?: number } = {}): Promise<Token> {
    return new Token(await this.call("session.getToken", { account, ...options }));
  }

  /** Reports an API's 401. Call `getToken` afterwards. `wwwAuthenticate` is its `WWW-Authenticate` header. */
  async reportUnauthorized(account: string, token: Token, wwwAuthenticate?: string): Promise<void> {
    await this.call("session.reportUnauthorized", { account, fingerprint: token.fingerprint, wwwAuthenticate });
  }

  /** Sends a request through Hearth, which adds the account's token. This program never sees the token. */
  async request(
    account: string, method: string, url: string, body?: Uint8Array, headers?: Record<string, string>,
  ): Promise<Answer> {
    const bodyBase64 = body && Buffer.from(body).toString("base64");
    const result = await this.call("http.request", { account, method, url, headers, bodyBase64 });
    const content = Buffer.from(result.body ?? result.bodyBase64 ?? "", result.body === undefined ? "base64" : "utf8");
    return { status: result.status, headers: result.headers, body: content, fromCache: Boolean(result.fromCache) };
  }

  /** Yields a snapshot, then each change as it happens. Use at most one such iterator per connection. */
  async *events(account?: string): AsyncGenerator<HearthEvent, never> {
    const { snapshot } = await this.call("events.subscribe", { account });
    yield { method: "snapshot", ...snapshot };
    for (;;) {
      const event = this.#events.shift();
      if (event) yield event;
      else if (this.#end) throw this.#end;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #read(message: JSONObject): void {
    const call = this.#calls.get(message.id);
    if (message.error) call?.reject(new HearthError(message.error.message, message.error.code, message.error.data));
    else if (call) call.resolve(message.result);
    else if (message.method) this.#events.push({ method: message.method, ...message.params });
    this.#wake();
  }
}

/** Yields the events of `Hearth.events` forever. If the daemon restarts, connects again and yields another snapshot.
 * Throws a `HearthError` if a retry cannot help, for example if the account is unknown. */
export async function* follow(account?: string, path?: string): AsyncGenerator<HearthEvent, never> {
  for (;;) {
    let hearth: Hearth | undefined;
    try {
      hearth = await Hearth.connect(path);
      for await (const event of hearth.events(account)) {
        if (event.method === "events.closed") break; // some events were missed; the next snapshot includes them
        yield event;
      }
    } catch (error) {
      if (!(error instanceof HearthError && error.retryable)) throw error;
    } finally {
      hearth?.close();
    }
    await sleep(200 + 1000 * Math.random());
  }
}

/** Returns $HEARTH_SOCKET, or the default path of the socket. */
export function socketPath(): string {
  const { HEARTH_SOCKET, XDG_RUNTIME_DIR } = process.env;
  if (HEARTH_SOCKET) return HEARTH_SOCKET;
  if (XDG_RUNTIME_DIR) return `${XDG_RUNTIME_DIR}/hearth/rpc.sock`;
  throw new HearthError("XDG_RUNTIME_DIR is not set. Set HEARTH_SOCKET.", undefined, { retryable: false });
}
