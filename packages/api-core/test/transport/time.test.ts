import { describe, expect, it } from "vitest";
import { answers } from "../support/responses.ts";
import { anyOperation, clientFor, failureOf } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Answer, startServer } from "../support/server.ts";

const MAY_BE_MADE =
  "The payout may have been made: before it is sent again, look for it with listPayouts.";

const silent: Answer = () => () => undefined;
const stalledHead: Answer =
  () =>
  ({ socket }) =>
    socket.write("HTTP/1.1 200 OK\r\n");
const stalledBody: Answer =
  () =>
  ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"code":200,');
  };
/** Never silent for long, and never done. */
const dripping: Answer =
  () =>
  ({ response }) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };

const STALLS = [
  ["no answer at all", silent],
  ["a head that does not end", stalledHead],
  ["a body that stalls", stalledBody],
  ["a body that drips", dripping],
] as const;

describe.each(STALLS)("the time of one request covers %s", (_, answer) => {
  it("leaves a payout in doubt, closes the connection, and sends it once", async () => {
    await using server = await startServer(answer);
    await using client = clientFor(server.url, { requestTimeoutMs: 500 });
    expect(await failureOf(client.createPayout(requests.createPayout))).toMatchObject({
      _tag: "OutcomeUnknown",
      carriedOut: "unknown",
      message: `createPayout was sent, but no complete response within 500 ms. ${MAY_BE_MADE}`,
    });
    await server.closedByClient(1);
    expect(server.requests).toHaveLength(1);
  });
});

describe("an abort", () => {
  const reason = new Error("the user left");
  const unknown = {
    _tag: "OutcomeUnknown",
    operation: "createPayout",
    carriedOut: "unknown",
    message: `createPayout was aborted when it may have been sent. ${MAY_BE_MADE}`,
    cause: reason,
  };

  it.each(STALLS)("closes the connection at once during %s", async (_, answer) => {
    await using server = await startServer(answer);
    await using client = clientFor(server.url);
    const controller = new AbortController();
    const call = client.createPayout(requests.createPayout, { signal: controller.signal });
    await server.received(1);
    controller.abort(reason);
    expect(await failureOf(call)).toMatchObject(unknown);
    await server.closedByClient(1);
    expect(server.requests).toHaveLength(1);
  });

  it("of a read, or of the sign-in before a write, is the signal's own reason", async () => {
    await using server = await startServer(silent, silent);
    await using signingIn = clientFor(server.url);
    await using signedIn = await startServer(silent);
    await using reading = clientFor(signedIn.url);
    const controller = new AbortController();
    const { signal } = controller;
    const write = signingIn.createPayout(requests.createPayout, { signal });
    const read = reading.retrievePayout(requests.retrievePayout, { signal });
    await signedIn.received(1);
    controller.abort(reason);
    await expect(write).rejects.toBe(reason);
    await expect(read).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it("ends a wait between two sends at once", async () => {
    await using server = await startServer(() => ({
      status: 429,
      headers: { "retry-after": "15" },
    }));
    await using client = clientFor(server.url);
    const controller = new AbortController();
    const call = client.createPayout(requests.createPayout, { signal: controller.signal });
    await server.received(1);
    controller.abort(reason);
    expect(await failureOf(call)).toMatchObject(unknown);
    expect(server.requests).toHaveLength(1);
  });

  it("before the call sends nothing", async () => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    await expect(
      client.createPayout(requests.createPayout, { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  it("before a call of a client with a token is not even a send", async () => {
    await using server = await startServer(() => answers.ping);
    const sends: Array<string> = [];
    const onRequest = (send: { readonly operation: string }) => void sends.push(send.operation);
    await using client = clientFor(server.url, { onRequest });
    await client.ping();
    sends.length = 0;
    const signal = AbortSignal.abort(reason);
    await expect(client.createPayout(requests.createPayout, { signal })).rejects.toBe(reason);
    expect(sends).toEqual([]);
  });

  it("while it waits for a connection sends nothing, not later either", async () => {
    let answer = silent;
    await using server = await startServer((received, n) => answer(received, n));
    await using client = clientFor(server.url, { maxConnections: 1, maxAttempts: 1 });
    answer = () => answers.ping;
    await client.ping();
    answer = silent;
    const [one, two] = [new AbortController(), new AbortController()];
    const first = client.createPayout(requests.createPayout, { signal: one.signal });
    await server.received(2);
    const second = client.createPayout(requests.createPayout, { signal: two.signal });
    // The second is in the queue of the one connection once the loop has turned.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    two.abort(reason);
    await expect(second).rejects.toBe(reason);
    one.abort(reason);
    expect(await failureOf(first)).toMatchObject(unknown);
    answer = () => answers.ping;
    await client.ping();
    expect(server.requests).toHaveLength(3);
  });

  it("of one caller leaves the sign-in of another alone", async () => {
    let answerSignIn = () => {};
    await using server = await startServer(
      () => answers.ping,
      () =>
        ({ response }) => {
          answerSignIn = () =>
            void response.end('{"code":200,"message":"Success","data":{"auth_token":"t"}}');
          arrived.resolve();
        },
    );
    const arrived = Promise.withResolvers<void>();
    await using client = clientFor(server.url);
    const controller = new AbortController();
    const first = client.ping(undefined, { signal: controller.signal });
    const second = client.ping();
    await arrived.promise;
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    answerSignIn();
    expect(await second).toStrictEqual({ message: "pong" });
    expect(server.signIns).toHaveLength(1);
  });
});

describe("closing the client", () => {
  it("ends calls under way: a write in doubt, a read not", async () => {
    await using server = await startServer(silent);
    await using client = clientFor(server.url);
    const write = failureOf(client.createPayout(requests.createPayout));
    const read = failureOf(client.retrievePayout(requests.retrievePayout));
    await server.received(2);
    await client.close();
    expect(await write).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
    expect(await read).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    await server.closedByClient(1);
    await server.closedByClient(2);
  });

  it("ends a write that waits for its sign-in: it was not sent", async () => {
    await using server = await startServer(silent, silent);
    await using client = clientFor(server.url);
    const write = failureOf(client.createPayout(requests.createPayout));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await client.close();
    expect(await write).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  });

  it("lets nothing be sent any more", async () => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    await client.ping();
    await client.close();
    await client.close();
    expect(await failureOf(anyOperation(client, "ping")(undefined))).toMatchObject({
      _tag: "Unavailable",
      carriedOut: "no",
      message: "ping was not sent: the client is closed.",
    });
    expect(server.requests).toHaveLength(1);
  });
});
