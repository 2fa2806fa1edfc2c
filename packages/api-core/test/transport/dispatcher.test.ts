import { Effect, Result } from "effect";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  Agent,
  type Dispatcher,
  interceptors,
  MockAgent,
  RetryAgent,
  type RetryHandler,
} from "undici";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import { BeforeSend, PaymentsClient } from "../../src/effect.ts";
import { makeCertificate } from "../support/certificates.ts";
import { anyOperation, clientFor, failureOf, settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { type Answer, signsIn, startServer } from "../support/server.ts";

const BASE = "https://payments.example/gateway";

/** A MockAgent of undici that signs in, and lets nothing else through. */
const mock = () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(() => agent.close());
  const service = agent.get("https://payments.example");
  const { body } = signsIn({ method: "", path: "", query: {}, headers: {}, body: "" }, 0);
  service
    .intercept({ method: "POST", path: "/gateway/api/v1/auth/signin" })
    .reply(200, JSON.stringify(body));
  return { agent, service };
};

/** A dispatcher that does as another one, and shows every request. */
const watched = (inner: Dispatcher) => {
  const paths: Array<string> = [];
  const dispatch: Dispatcher["dispatch"] = (options, handler) => {
    paths.push(options.path);
    return inner.dispatch(options, handler);
  };
  return { dispatcher: { dispatch }, paths };
};

type RetryCallback = Parameters<NonNullable<RetryHandler.RetryOptions["retry"]>>;

const agentOf = (options?: Agent.Options) => {
  const agent = new Agent(options);
  onTestFinished(() => agent.destroy());
  return agent;
};

describe("a dispatcher of the caller's", () => {
  it("may be a MockAgent, so that a test needs no server", async () => {
    const { agent, service } = mock();
    service
      .intercept({
        method: "POST",
        path: "/gateway/api/v1/cards/freeze",
        body: '{"card_id":"card-1"}',
        headers: { "x-auth-token": "Bearer token-1", "x-client-id": "client-7" },
      })
      .reply(200, '{"code":200,"message":"Success"}');
    await using client = clientFor(BASE, { dispatcher: agent });
    expect(await client.freezeCard({ card_id: "card-1" })).toBeUndefined();
    agent.assertNoPendingInterceptors();
  });

  it("that has no answer for a request has sent nothing, and no error shows the request", async () => {
    const { agent } = mock();
    await using client = clientFor(BASE, { dispatcher: agent });
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("its MockAgent has no response for it");
    expect(error.message).not.toContain("token-1");
  });

  it("has its own connections and TLS, and stays open when the client is closed", async () => {
    const authority = makeCertificate({ commonName: "Our CA", isAuthority: true });
    const own = makeCertificate({ commonName: "s", names: ["localhost"], signedBy: authority });
    await using server = await startServer(() => answers.ping, signsIn, own);
    const { dispatcher, paths } = watched(
      agentOf({ connections: 1, connect: { ca: authority.cert } }),
    );
    for (let n = 0; n < 2; n++) {
      await using client = clientFor(server.url, { dispatcher });
      expect(await client.ping()).toStrictEqual({ message: "pong" });
    }
    expect(paths).toHaveLength(4);
    expect(server.connections()).toBe(1);
  });

  it("that cannot connect has sent nothing", async () => {
    await using client = clientFor("http://127.0.0.1:1", { dispatcher: agentOf(), maxAttempts: 2 });
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("connection refused");
  });

  it("is given up with the time of the request and by a signal", async () => {
    await using server = await startServer((_, n) => (n === 0 ? answers.ping : () => undefined));
    await using client = clientFor(server.url, { dispatcher: agentOf(), maxAttempts: 1 });
    await client.ping();
    const slow = client.createPayout(requests.createPayout, { timeoutMs: 1_000 });
    expect(await failureOf(slow)).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
    await server.closedByClient(2);
    const controller = new AbortController();
    const aborted = client.freezeCard({ card_id: "1" }, { signal: controller.signal });
    await Promise.all([
      expect(aborted).rejects.toThrow("aborted"),
      server.received(3).then(() => controller.abort()),
    ]);
    await server.closedByClient(3);
  });
});

describe("a dispatcher that sends again by itself is stopped: one request, and its outcome is unknown", () => {
  it.each<[string, () => Dispatcher]>([
    [
      "a RetryAgent",
      () => new RetryAgent(agentOf(), { methods: ["POST"], statusCodes: [503], minTimeout: 1 }),
    ],
    [
      "an interceptor that repeats",
      () =>
        agentOf().compose(
          interceptors.retry({ methods: ["POST"], statusCodes: [503], minTimeout: 1 }),
        ),
    ],
  ])("%s", async (_, dispatcherOf) => {
    await using server = await startServer(() => ({ status: 503, body: "" }));
    await using client = clientFor(server.url, { dispatcher: dispatcherOf() });
    for (const name of ["createPayout", "freezeCard"] as const) {
      const before = server.requests.length;
      const calling =
        name === "createPayout"
          ? client.createPayout(requests.createPayout)
          : client.freezeCard({ card_id: "card-1" });
      const error = await failureOf(calling);
      expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
      expect(error.message).toContain("neither repeats nor redirects requests");
      expect(server.requests.length - before).toBe(1);
    }
  });

  const half: Answer =
    () =>
    ({ response }) => {
      const body = JSON.stringify(answers.createPayout.body);
      response.writeHead(200, { "content-length": body.length });
      response.write(body.slice(0, 20), () => response.destroy());
    };
  const headOnly: Answer =
    () =>
    ({ response }) => {
      response.writeHead(200, { "content-length": 100 }).flushHeaders();
      setTimeout(() => response.destroy(), 20);
    };
  const retryOptions = { methods: ["POST" as const], minTimeout: 1 };
  const always = { ...retryOptions, retry: (...[, , again]: RetryCallback) => again(null) };

  it.each<[string, Answer, () => Dispatcher]>([
    ["a RetryAgent, half a body", half, () => new RetryAgent(agentOf(), retryOptions)],
    ["a RetryAgent, a head", headOnly, () => new RetryAgent(agentOf(), retryOptions)],
    ["a RetryAgent that asks nobody", half, () => new RetryAgent(agentOf(), always)],
    [
      "an interceptor that repeats, half a body",
      half,
      () => agentOf().compose(interceptors.retry(retryOptions)),
    ],
    [
      "an interceptor below another one, half a body",
      half,
      () => agentOf().compose(interceptors.retry(retryOptions), interceptors.dns()),
    ],
  ])("after the response has begun: %s", async (_, answer, dispatcherOf) => {
    await using server = await startServer(answer);
    await using client = clientFor(server.url, { dispatcher: dispatcherOf(), maxAttempts: 1 });
    for (const name of ["createPayout", "createCardholder", "createBeneficiary"] as const) {
      const before = server.requests.length;
      const error = await failureOf(anyOperation(client, name)(requests[name]));
      expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
      expect(server.requests.length - before).toBe(1);
    }
  });

  it("an interceptor that follows redirects: the token goes nowhere else", async () => {
    await using elsewhere = await startServer(() => answers.ping);
    await using server = await startServer(() => ({
      status: 307,
      headers: { location: `${elsewhere.url}/api/v1/payouts/create` },
    }));
    const dispatcher = agentOf().compose(interceptors.redirect({ maxRedirections: 5 }));
    await using client = clientFor(server.url, { dispatcher });
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(error).toMatchObject({ _tag: "UnexpectedAnswer", carriedOut: "unknown" });
    expect(elsewhere.requests).toHaveLength(0);
  });
});

describe("a dispatcher of another make, which never says that it has begun", () => {
  /** Whatever it does, the client must not take a write for not carried out. */
  const strange = (
    end: (handler: Dispatcher.DispatchHandler) => void,
  ): Pick<Dispatcher, "dispatch"> => ({
    dispatch: ({ path }, handler) => {
      const controller = {
        abort: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
      };
      if (!path.endsWith("/signin")) return (end(handler), true);
      const { body } = signsIn({ method: "", path: "", query: {}, headers: {}, body: "" }, 0);
      const full = controller as unknown as Dispatcher.DispatchController;
      handler.onResponseStart?.(full, 200, {});
      handler.onResponseData?.(full, Buffer.from(JSON.stringify(body)));
      handler.onResponseEnd?.(full, {});
      return true;
    },
  });
  const none = {} as Dispatcher.DispatchController;

  it.each<[string, Pick<Dispatcher, "dispatch">]>([
    ["breaks off", strange((handler) => handler.onResponseError?.(none, new Error("reset")))],
    [
      "throws",
      strange(() => {
        throw new Error("broken");
      }),
    ],
    ["says nothing", strange(() => undefined)],
  ])("and %s", async (_, dispatcher) => {
    await using client = clientFor(BASE, { dispatcher, requestTimeoutMs: 300 });
    const error = await failureOf(client.createPayout(requests.createPayout));
    expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
  });
});

it("a dispatcher that redirects a read says so, and not that the request is none", async () => {
  const redirect = { status: 307, headers: { location: "/api/v1/balances/retrieve/EUR" } };
  await using server = await startServer(() => redirect);
  const dispatcher = agentOf().compose(interceptors.redirect({ maxRedirections: 3 }));
  await using client = clientFor(server.url, { dispatcher, maxAttempts: 1 });
  const error = await failureOf(client.retrieveBalance(requests.retrieveBalance));
  expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  expect(error.message).toContain(
    "Give the client a dispatcher that neither repeats nor redirects requests",
  );
  expect(error.message).not.toContain("written as HTTP");
});

it("BeforeSend is asked before a dispatcher is", async () => {
  await using server = await startServer(() => answers.createPayout);
  const { dispatcher, paths } = watched(agentOf());
  const asked: Array<number> = [];
  const calling = PaymentsClient.use((client) => client.createPayout(requests.createPayout)).pipe(
    Effect.provideService(BeforeSend, () => Effect.sync(() => void asked.push(paths.length))),
    Effect.provide(PaymentsClient.layer(settingsFor(server.url, { dispatcher }))),
  );
  await Effect.runPromise(calling);
  expect(asked).toStrictEqual([1]);
  expect(paths).toHaveLength(2);
});

describe("settings beside a dispatcher", () => {
  const faultOf = (settings: unknown) => {
    const made = makeClientOptions({
      ...settingsFor(BASE),
      ...(settings as Partial<ClientSettings>),
    });
    return Result.isFailure(made) ? made.failure.message : "";
  };

  const dispatcher: Pick<Dispatcher, "dispatch"> = { dispatch: () => true };

  it.each([
    [{ dispatcher: agentOf, proxy: "http://proxy.example" }, "must be an undici dispatcher"],
    [{ dispatcher: null }, "must be an undici dispatcher"],
    [{ dispatcher, proxy: "http://p.example" }, "brings its own proxy and TLS settings"],
    [{ dispatcher, caFile: "ca.pem" }, "brings its own proxy and TLS settings"],
  ])("are refused where it decides: %#", (settings, fault) => {
    expect(faultOf(settings)).toContain(fault);
  });
});
