import { it } from "@effect/vitest";
import { Effect, Result } from "effect";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import type { WireRequest } from "../../src/client/send.ts";
import { makeUndici } from "../../src/client/undici-transport.ts";
import { operation } from "../../src/contract.ts";
import { settingsFor } from "../support/client.ts";

const request: WireRequest = {
  operation: operation("createBalance"),
  method: "POST",
  path: "/api/v1/payouts/create",
  headers: { "content-type": "application/json" },
  body: '{"amount":"1.00"}',
  timeoutMs: 30_000,
  permit: undefined,
};

const sendOf = (settings: ClientSettings) =>
  makeUndici(Result.getOrThrow(makeClientOptions(settings)));

const sendTo = (
  url: string,
  settings: Partial<ClientSettings> = {},
  changes: Partial<WireRequest> = {},
) =>
  Effect.gen(function* () {
    const send = yield* sendOf(settingsFor(url, settings));
    return yield* send({ ...request, ...changes });
  }).pipe(Effect.scoped);

/** A server of bytes: what it got, and what it does with a connection and its first bytes. */
const bytesServer = async (onData: (socket: Socket, n: number) => void) => {
  const got: Array<string> = [];
  const sockets: Array<Socket> = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => onData(socket, got.push(bytes.toString("latin1"))));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    got,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
};

describe("a request of which no byte left", () => {
  let silent: Awaited<ReturnType<typeof bytesServer>>;
  let plain: Awaited<ReturnType<typeof bytesServer>>;
  let port = 0;
  beforeAll(async () => {
    silent = await bytesServer(() => undefined);
    plain = await bytesServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const closed = await bytesServer(() => undefined);
    port = closed.port;
    await closed.stop();
  });
  afterAll(async () => {
    await silent.stop();
    await plain.stop();
  });

  it.effect.each([
    [
      "connection refused",
      () => sendTo(`http://127.0.0.1:${port}`),
      /^connection refused \(http:\/\/127\.0\.0\.1:\d+\)$/,
    ],
    [
      "a host name that is none",
      () => sendTo("https://payments.invalid"),
      /^its host name cannot be resolved \(https:\/\/payments\.invalid\)$/,
    ],
    [
      "a TLS handshake that is never answered",
      () => sendTo(`https://127.0.0.1:${silent.port}`, { requestTimeoutMs: 30 }),
      /^no connection within (30 ms|the time allowed) \(https/,
    ],
    [
      "a server that speaks no TLS",
      () => sendTo(`https://127.0.0.1:${plain.port}`),
      /^it does not speak TLS \(https:\/\/127\.0\.0\.1:\d+\)$/,
    ],
    [
      "a header that cannot be written",
      () => sendTo(`http://127.0.0.1:${silent.port}`, {}, { headers: { "x-auth-token": "a\nb" } }),
      /^the request cannot be written as HTTP$/,
    ],
    [
      "a path that cannot be written",
      () => sendTo(`http://127.0.0.1:${silent.port}`, {}, { path: "/a b" }),
      /^the request cannot be written as HTTP$/,
    ],
  ] as const)("is distinguished: %s", ([, sent, reason]) =>
    Effect.gen(function* () {
      const noResponse = yield* Effect.flip(sent());
      expect(noResponse).toMatchObject({
        _tag: "NoResponse",
        sent: false,
        reason: expect.stringMatching(reason) as string,
      });
      expect(silent.got.join("")).not.toContain("payouts/create");
    }),
  );
});

const withBytes = (onData: (socket: Socket, n: number) => void) =>
  Effect.acquireRelease(
    Effect.promise(() => bytesServer(onData)),
    (server) => Effect.promise(server.stop),
  );

const answering = (head: string, body: string) => (socket: Socket) =>
  socket.write(`HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

describe("an answer", () => {
  it.effect("is read over HTTP/1.1, its text as UTF-8 without a byte order mark", () =>
    Effect.gen(function* () {
      const server = yield* withBytes(answering("200 OK", '\uFEFF{"name":"Zoë"}'));
      const answer = yield* sendTo(`http://127.0.0.1:${server.port}/base/`);
      expect(answer).toStrictEqual({
        status: 200,
        headers: { "content-length": "18" },
        body: '{"name":"Zoë"}',
      });
      expect(server.got.join("")).toMatch(
        /^POST \/base\/api\/v1\/payouts\/create HTTP\/1\.1\r\nhost: 127[^]*\r\n\r\n{"amount":"1\.00"}$/,
      );
    }),
  );

  it.effect("is read past the answers before it", () =>
    Effect.gen(function* () {
      const server = yield* withBytes((socket) => {
        socket.write("HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n");
        answering("429 Too Many\r\nretry-after: 7\r\nretry-after: 8", "x")(socket);
      });
      const answer = yield* sendTo(`http://127.0.0.1:${server.port}`);
      expect(answer).toMatchObject({ status: 429, body: "x" });
      expect(String(answer.headers["retry-after"])).toMatch(/^7/);
    }),
  );

  it.effect("that never ends growing is not read on", () =>
    Effect.gen(function* () {
      const megabyte = "x".repeat(1024 * 1024);
      const server = yield* withBytes((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${17 * megabyte.length}\r\n\r\n`);
        for (let n = 0; n < 17; n++) socket.write(megabyte);
      });
      const noResponse = yield* Effect.flip(sendTo(`http://127.0.0.1:${server.port}`));
      expect(noResponse).toMatchObject({
        sent: true,
        reason: "its response is too long",
      });
    }),
  );
});

describe("a connection", () => {
  /** Sends twice, to a server that answers the first request on each connection and no other. */
  const twice = (isDedicated: boolean) =>
    Effect.gen(function* () {
      const answered = new Set<Socket>();
      const server = yield* withBytes((socket) => {
        if (answered.has(socket)) socket.resetAndDestroy();
        else answering("200 OK", "{}")(socket);
        answered.add(socket);
      });
      const send = yield* sendOf(
        settingsFor(`http://127.0.0.1:${server.port}`, { maxConnections: 1 }),
      );
      yield* send(request);
      const again = isDedicated ? { ...request, operation: operation("createPayout") } : request;
      if (isDedicated) yield* send(again);
      const outcome = yield* Effect.result(send(again));
      return { outcome, connections: answered.size, got: server.got };
    });

  it.effect(
    "that was kept and fails leaves the request in doubt, which is sent no second time",
    () =>
      Effect.gen(function* () {
        const { connections, got, outcome } = yield* twice(false);
        expect(outcome).toMatchObject({ failure: { _tag: "NoResponse", sent: true } });
        expect(got).toHaveLength(2);
        expect(connections).toBe(1);
      }),
  );

  it.effect("that is dedicated serves what must not be left in doubt, and is closed after it", () =>
    Effect.gen(function* () {
      const { connections, got, outcome } = yield* twice(true);
      expect(outcome).toMatchObject({ success: { status: 200 } });
      expect(connections).toBe(3);
      expect(got[0]).toContain("connection: keep-alive");
      expect(got[1]).toContain("connection: close");
    }),
  );
});
