import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { Agent } from "undici";
import { BeforeSend, type ClientSettings, PaymentsClient, Unavailable } from "../../src/effect.ts";
import { makeCertificate, tlsFiles } from "../support/certificates.ts";
import { settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { signsIn, startServer } from "../support/server.ts";

const authority = makeCertificate({ commonName: "Our CA", isAuthority: true });
const service = makeCertificate({ commonName: "s", names: ["localhost"], signedBy: authority });

/** What reached the service, in order: the commit of the fence, and each piece of a payout's bytes. */
interface Line {
  readonly order: ReadonlyArray<"committed" | "bytes">;
  readonly outcome: unknown;
}

const CREATE = "payouts/create";

/** Pays once over plain TCP; the fence commits, or refuses, as the test says. */
const pay = async (
  fence: "commits" | "refuses",
  settings: Partial<ClientSettings>,
): Promise<Line> => {
  const order: Array<Line["order"][number]> = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      const isPayout = bytes.includes(CREATE);
      if (isPayout) order.push("bytes");
      const { body } = isPayout
        ? answers.createPayout
        : signsIn({ method: "", path: "", query: {}, headers: {}, body: "" }, 0);
      const text = JSON.stringify(body);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const commit = Effect.gen(function* () {
    // As a ledger takes its time.
    yield* Effect.promise(() => sleep(20));
    if (fence === "commits") return void order.push("committed");
    const message = "overtaken";
    return yield* Effect.fail(
      new Unavailable({ operation: "createPayout", carriedOut: "no", message }),
    );
  });
  const outcome = await PaymentsClient.use((client) =>
    Effect.result(client.createPayout(requests.createPayout)),
  ).pipe(
    Effect.provideService(BeforeSend, () => commit),
    Effect.provide(PaymentsClient.layer(settingsFor(`http://127.0.0.1:${port}`, settings))),
    Effect.runPromise,
  );
  // Bytes that were on their way have arrived by now.
  await sleep(20);
  for (const socket of sockets) socket.destroy();
  server.close();
  return { order, outcome };
};

describe.each<[string, () => Partial<ClientSettings>]>([
  ["the client's connections", () => ({})],
  ["a dispatcher of the caller", () => ({ dispatcher: new Agent() })],
])("over %s", (_, settings) => {
  it("a commit comes before the first byte", async () => {
    const { order, outcome } = await pay("commits", settings());
    expect(order).toStrictEqual(["committed", "bytes"]);
    expect(outcome).toMatchObject({ _tag: "Success" });
  });

  it("a fence that refuses lets no byte leave, and the call ends", async () => {
    const { order, outcome } = await pay("refuses", settings());
    expect(order).toStrictEqual([]);
    expect(outcome).toMatchObject({ failure: { _tag: "Unavailable", message: "overtaken" } });
  });
});

/** Pays by TLS, whose first handshake after the first permission takes longer than that is good for. */
const payBySlowTls = async (settings: Partial<ClientSettings>) => {
  await using server = await startServer(() => answers.createPayout, signsIn, service);
  const { port } = new URL(server.url);
  let delayMs = 0;
  const sockets: Array<Socket> = [];
  const slow = createServer(async (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined).pause();
    await sleep(delayMs);
    const upstream = connect(Number(port), "127.0.0.1");
    sockets.push(upstream);
    upstream.on("error", () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  await once(slow.listen(0, "127.0.0.1"), "listening");
  const url = `https://localhost:${(slow.address() as AddressInfo).port}`;
  let asked = 0;
  const permit = Effect.sync(() => {
    asked += 1;
    delayMs = asked === 1 ? 1_500 : 0;
  });
  const outcome = await PaymentsClient.use((client) =>
    Effect.result(client.createPayout(requests.createPayout)),
  ).pipe(
    Effect.provideService(BeforeSend, () => permit),
    Effect.provide(PaymentsClient.layer(settingsFor(url, settings))),
    Effect.runPromise,
  );
  for (const socket of sockets) socket.destroy();
  slow.close();
  return { asked, outcome, sent: server.requests.length };
};

describe("a TLS handshake that outlives the permission to send", () => {
  it("is asked again, and the payout is sent once", async () => {
    const { asked, outcome, sent } = await payBySlowTls(tlsFiles({ ca: authority.cert }));
    expect(outcome).toMatchObject({ success: { payout_id: "p-1" } });
    expect([asked, sent]).toStrictEqual([2, 1]);
  });

  it("of a dispatcher of the caller sends nothing, which nobody can prove", async () => {
    const dispatcher = new Agent({ connect: { ca: authority.cert } });
    const { asked, outcome, sent } = await payBySlowTls({ dispatcher });
    expect(outcome).toMatchObject({ failure: { _tag: "OutcomeUnknown" } });
    expect([asked, sent]).toStrictEqual([1, 0]);
  });
});
