import { Redacted, Result } from "effect";
import { describe, expect, it, vi } from "vitest";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import { makeCertificate } from "../support/certificates.ts";
import { clientFor, failureOf, settingsFor } from "../support/client.ts";
import { startProxy } from "../support/connect-proxy.ts";
import { answers } from "../support/responses.ts";
import { signsIn, startServer } from "../support/server.ts";

const authority = makeCertificate({ commonName: "Our CA", isAuthority: true });
const service = makeCertificate({
  commonName: "service",
  names: ["localhost"],
  signedBy: authority,
});
const tls = { ca: authority.cert };

const startService = () => startServer(() => answers.ping, signsIn, service);

describe("through a proxy", () => {
  it("TLS is spoken with the service, and one connection is kept", async () => {
    await using server = await startService();
    await using proxy = await startProxy();
    await using client = clientFor(server.url, { tls, proxy: `http://${proxy.address}` });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    const target = server.url.replace("https://", "");
    expect(proxy.tunnels).toStrictEqual([{ target, authorization: "" }]);
    expect(server.connections()).toBe(1);
  });

  it("that wants a password it is given, and no error shows it", async () => {
    await using server = await startService();
    const expected = `Basic ${Buffer.from("us er:p@ss:word").toString("base64")}`;
    await using proxy = await startProxy({
      refuses: ({ headers }) => (headers["proxy-authorization"] === expected ? undefined : 407),
    });
    const at = (credentials: string) =>
      clientFor(server.url, { tls, proxy: `http://${credentials}@${proxy.address}` });
    await using right = at("us%20er:p%40ss%3Aword");
    expect(await right.ping()).toStrictEqual({ message: "pong" });
    await using wrong = at("user:wrong-password");
    const before = proxy.tunnels.length;
    const error = await failureOf(wrong.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain(`the proxy ${proxy.address} answered HTTP 407 to CONNECT`);
    expect(error.message).toContain("PAYMENTS_PROXY");
    expect(error.message).not.toContain("wrong-password");
    expect(proxy.tunnels).toHaveLength(before + 1);
  });

  it("that does not let it through is asked once", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ refuses: () => 403 });
    await using client = clientFor(server.url, { tls, proxy: `http://${proxy.address}` });
    const error = await failureOf(client.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("It has to let this machine through to localhost:");
    expect(proxy.tunnels).toHaveLength(1);
    expect(server.connections()).toBe(0);
  });

  it("that is busy is asked again", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ refuses: (_, n) => (n === 0 ? 503 : undefined) });
    await using client = clientFor(server.url, { tls, proxy: `http://${proxy.address}` });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    expect(proxy.tunnels).toHaveLength(2);
  });

  it("that does not answer, or is not there, nothing is sent", async () => {
    await using server = await startService();
    let address = "";
    {
      await using silent = await startProxy({ refuses: () => "silent" });
      address = silent.address;
      await using client = clientFor(server.url, {
        tls,
        proxy: `http://${address}`,
        requestTimeoutMs: 300,
        maxAttempts: 1,
      });
      const error = await failureOf(client.ping());
      expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
      expect(error.message).toMatch(/within/);
    }
    await using client = clientFor(server.url, { tls, proxy: `http://${address}`, maxAttempts: 2 });
    const error = await failureOf(client.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain(`connection refused (the proxy ${address} of PAYMENTS_PROXY`);
    expect(server.connections()).toBe(0);
  });

  it("the certificate of the service is checked, and a client certificate given, as without", async () => {
    const strict = { ...service, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
    await using server = await startServer(() => answers.ping, signsIn, strict);
    await using proxy = await startProxy();
    const own = makeCertificate({ commonName: "client-7", signedBy: authority });
    const through = `http://${proxy.address}`;
    await using known = clientFor(server.url, { tls: { ...tls, ...own }, proxy: through });
    expect(await known.ping()).toStrictEqual({ message: "pong" });
    await using distrustful = clientFor(server.url, { proxy: through });
    const error = await failureOf(distrustful.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("nobody trusted has signed its TLS certificate");
    expect(error.message).toContain(`through the proxy ${proxy.address}`);
  });

  it("that speaks TLS itself", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ tls: service });
    await using client = clientFor(server.url, { tls, proxy: `https://${proxy.address}` });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    await using distrustful = clientFor(server.url, { proxy: `https://${proxy.address}` });
    const error = await failureOf(distrustful.ping());
    expect(error.message).toContain(
      `nobody trusted has signed its TLS certificate (the proxy ${proxy.address} of`,
    );
    expect(proxy.tunnels).toHaveLength(1);
  });
});

const choose = (
  environment: Readonly<Record<string, string>>,
  changes: Partial<ClientSettings> = {},
) => makeClientOptions({ ...settingsFor("https://pay.example.com:8443"), ...changes }, environment);

const chosen = (...args: Parameters<typeof choose>): string | false => {
  const { proxy } = Result.getOrThrow(choose(...args));
  return proxy === false ? false : Redacted.value(proxy);
};

describe("the proxy", () => {
  const PROXY = "http://proxy.example:3128";

  it.each([
    [{}, false],
    [{ HTTPS_PROXY: "" }, false],
    [{ HTTPS_PROXY: PROXY }, PROXY],
    [{ https_proxy: PROXY }, PROXY],
    [{ https_proxy: PROXY, HTTPS_PROXY: "http://other.example" }, PROXY],
    [{ HTTPS_PROXY: "proxy.example:3128" }, PROXY],
    // For http://, which leads to this machine only.
    [{ HTTP_PROXY: PROXY, http_proxy: PROXY }, false],
  ])("is that of the environment: %j", (environment, expected) => {
    expect(chosen(environment)).toBe(expected);
  });

  it.each([
    ["*", true],
    ["pay.example.com", true],
    ["PAY.example.COM.", true],
    ["example.com", true],
    [".example.com", true],
    ["*.example.com", true],
    ["other.example, example.com", true],
    ["other.example example.com:8443", true],
    ["pay.example.com:443", false],
    ["*:8443", true],
    ["*:443", false],
    ["*.pay.example.com", false],
    ["ay.example.com", false],
    ["pay.example.com.evil.example", false],
    ["com", true],
    [".", false],
    [",", false],
    ["", false],
  ])("is not used where NO_PROXY is %s: %s", (NO_PROXY, isExempt) => {
    expect(chosen({ HTTPS_PROXY: PROXY, NO_PROXY })).toBe(isExempt ? false : PROXY);
    expect(chosen({ HTTPS_PROXY: PROXY, no_proxy: NO_PROXY, NO_PROXY: "*" })).toBe(
      isExempt ? false : PROXY,
    );
  });

  it.each(["[2001:db8::1]", "2001:db8::1", "[2001:db8::1]:443"])(
    "is not used for an IPv6 address in NO_PROXY: %s",
    (NO_PROXY) => {
      const baseUrl = "https://[2001:db8::1]";
      expect(chosen({ HTTPS_PROXY: PROXY, NO_PROXY }, { baseUrl })).toBe(false);
      expect(chosen({ HTTPS_PROXY: PROXY, NO_PROXY: "2001:db8::2" }, { baseUrl })).toBe(PROXY);
    },
  );

  it.each(["http://localhost:3000", "http://127.0.0.1:3000", "https://localhost", "https://[::1]"])(
    "of the environment leads to no other machine than %s",
    (baseUrl) => {
      const environment = { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY };
      expect(chosen(environment, { baseUrl })).toBe(false);
    },
  );

  it("that is set goes before the environment and NO_PROXY; false is none", () => {
    const environment = { HTTPS_PROXY: "http://other.example", NO_PROXY: "*" };
    expect(chosen(environment, { proxy: PROXY })).toBe(PROXY);
    expect(chosen(environment, { proxy: Redacted.make(PROXY) })).toBe(PROXY);
    expect(chosen({ HTTPS_PROXY: PROXY }, { proxy: false })).toBe(false);
    expect(chosen({ HTTPS_PROXY: PROXY }, { proxy: "none" })).toBe(false);
  });

  it.each<[Readonly<Record<string, string>>, unknown, string]>([
    [
      { HTTPS_PROXY: "socks5://u:secret@h" },
      undefined,
      "HTTPS_PROXY must be the address of an HTTP proxy",
    ],
    [
      { HTTPS_PROXY: "http://u:secret@" },
      undefined,
      "HTTPS_PROXY must be the address of an HTTP proxy",
    ],
    [{ HTTPS_PROXY: "http://us%zz:secret@h" }, undefined, "with user and password percent-encoded"],
    [{}, "", "PAYMENTS_PROXY (proxy) must be the address of an HTTP proxy"],
    [{}, "socks5://u:secret@h:1", "PAYMENTS_PROXY (proxy) must be the address of an HTTP proxy"],
    [{}, "http://h/secret", "without a path"],
    [{}, true, "or false for none"],
    [{}, null, "or false for none"],
  ])("is refused by name where it is none: %j %j", (environment, proxy, fault) => {
    const made = choose(environment, { proxy } as Partial<ClientSettings>);
    const said = Result.isFailure(made) ? made.failure.message : "";
    expect(said).toContain(fault);
    expect(said).not.toContain("secret");
  });

  it("is refused where it is set for this machine by http, where the key would leave it in the clear", () => {
    const made = choose({}, { baseUrl: "http://localhost:3000", proxy: PROXY });
    expect(Result.isFailure(made) && made.failure.message).toContain("is for https:// only");
  });

  it("is read from this process's environment", () => {
    vi.stubEnv("https_proxy", PROXY);
    vi.stubEnv("no_proxy", "");
    try {
      const { proxy } = Result.getOrThrow(
        makeClientOptions(settingsFor("https://pay.example.com")),
      );
      expect(proxy !== false && Redacted.value(proxy)).toBe(PROXY);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
