import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy of a server that can freeze, as by SIGSTOP, or be away, on the same port. */
export class FrozenProxy implements AsyncDisposable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #listener = createServer((client) => void this.#serve(client));
  #thawed = Promise.resolve();
  #thaw = () => undefined as void;
  #isAway = false;
  /** Connections that it has accepted. */
  accepted = 0;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(port: number): Promise<FrozenProxy> {
    const proxy = new FrozenProxy(port);
    await once(proxy.#listener.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#listener.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Accepts connections, and answers nothing. */
  freeze(): void {
    ({ promise: this.#thawed, resolve: this.#thaw } = Promise.withResolvers<void>());
  }

  /** Ends all connections, and resets new ones. */
  leave(): void {
    this.#isAway = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Everything that was sent meanwhile arrives. */
  comeBack(): void {
    this.#isAway = false;
    this.#thaw();
  }

  async #serve(client: Socket): Promise<void> {
    if (this.#isAway) return void client.resetAndDestroy();
    this.accepted += 1;
    this.#sockets.add(client);
    const server = connect(this.#port, "127.0.0.1");
    const pass = (from: Socket, to: Socket) => {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.on("data", async (chunk: Buffer) => {
        await this.#thawed;
        if (!to.destroyed) to.write(chunk);
      });
    };
    pass(client, server);
    pass(server, client);
    client.on("close", () => this.#sockets.delete(client));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leave();
    this.#thaw();
    await once(this.#listener.close(), "close");
  }
}
