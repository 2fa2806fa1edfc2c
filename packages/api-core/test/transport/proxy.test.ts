import { Result } from "effect";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import { makeCertificate, tlsFiles } from "../support/certificates.ts";
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
const tls = tlsFiles({ ca: authority.cert });

/** undici uses a connection again one turn of the event loop after a response: two take turns. */
const KEPT = 2;

const startService = () => startServer(() => answers.ping, signsIn, service);

describe("through a proxy", () => {
  it("TLS is spoken with the service, and connections are kept", async () => {
    await using server = await startService();
    await using proxy = await startProxy();
    await using client = clientFor(server.url, { ...tls, proxy: `http://${proxy.address}` });
    for (let call = 0; call < 9; call++) {
      expect(await client.ping()).toStrictEqual({ message: "pong" });
    }
    const target = server.url.replace("https://", "");
    expect(proxy.tunnels[0]).toStrictEqual({ target, authorization: "" });
    expect(server.connections()).toBe(KEPT);
  });

  it("that wants a password it is given, and no error shows it", async () => {
    await using server = await startService();
    const expected = `Basic ${Buffer.from("us er:p@ss:word").toString("base64")}`;
    await using proxy = await startProxy({
      refuses: ({ headers }) => (headers["proxy-authorization"] === expected ? undefined : 407),
    });
    const at = (credentials: string) =>
      clientFor(server.url, { ...tls, proxy: `http://${credentials}@${proxy.address}` });
    await using right = at("us%20er:p%40ss%3Aword");
    expect(await right.ping()).toStrictEqual({ message: "pong" });
    await using wrong = at("user:wrong-password");
    const before = proxy.tunnels.length;
    const error = await failureOf(wrong.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("the proxy answered HTTP 407 to CONNECT");
    expect(error.message).toContain("HTTPS_PROXY (proxy)");
    expect(error.message).not.toContain("wrong-password");
    expect(proxy.tunnels).toHaveLength(before + 1);
  });

  it("that does not let it through is asked once", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ refuses: () => 403 });
    await using client = clientFor(server.url, { ...tls, proxy: `http://${proxy.address}` });
    const error = await failureOf(client.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("The proxy must allow this machine");
    expect(proxy.tunnels).toHaveLength(1);
    expect(server.connections()).toBe(0);
  });

  it("that is busy is asked again", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ refuses: (_, n) => (n === 0 ? 503 : undefined) });
    await using client = clientFor(server.url, { ...tls, proxy: `http://${proxy.address}` });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    expect(proxy.tunnels).toHaveLength(1 + KEPT);
  });

  it("that does not answer, or is not there, nothing is sent", async () => {
    await using server = await startService();
    let address = "";
    {
      await using silent = await startProxy({ refuses: () => "silent" });
      address = silent.address;
      await using client = clientFor(server.url, {
        ...tls,
        proxy: `http://${address}`,
        requestTimeoutMs: 300,
        maxAttempts: 1,
      });
      const error = await failureOf(client.ping());
      expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
      expect(error.message).toMatch(/within/);
    }
    await using client = clientFor(server.url, {
      ...tls,
      proxy: `http://${address}`,
      maxAttempts: 2,
    });
    const error = await failureOf(client.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain(`through the proxy ${address})`);
    expect(server.connections()).toBe(0);
  });

  it("the certificate of the service is checked, and a client certificate given, as without", async () => {
    const strict = { ...service, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
    await using server = await startServer(() => answers.ping, signsIn, strict);
    await using proxy = await startProxy();
    const own = makeCertificate({ commonName: "client-7", signedBy: authority });
    const through = `http://${proxy.address}`;
    await using known = clientFor(server.url, { ...tls, ...tlsFiles(own), proxy: through });
    expect(await known.ping()).toStrictEqual({ message: "pong" });
    await using distrustful = clientFor(server.url, { proxy: through });
    const error = await failureOf(distrustful.ping());
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain("its TLS certificate is not signed by a trusted CA");
    expect(error.message).toContain(`through the proxy ${proxy.address}`);
  });

  it("that speaks TLS itself", async () => {
    await using server = await startService();
    await using proxy = await startProxy({ tls: service });
    await using client = clientFor(server.url, { ...tls, proxy: `https://${proxy.address}` });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    const before = proxy.tunnels.length;
    await using distrustful = clientFor(server.url, { proxy: `https://${proxy.address}` });
    const error = await failureOf(distrustful.ping());
    expect(error.message).toContain(
      `its TLS certificate is not signed by a trusted CA (${server.url} through the proxy`,
    );
    expect(proxy.tunnels).toHaveLength(before);
  });
});

describe("the proxy of the environment", () => {
  const environment = (variables: Readonly<Record<string, string>>) => {
    for (const name of ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"]) {
      vi.stubEnv(name, variables[name]);
    }
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
  };

  /** Where a request to a host that does not exist goes: to the proxy, or nowhere. */
  const isUsed = async (
    variables: (address: string) => Readonly<Record<string, string>>,
    settings: Partial<ClientSettings> = {},
  ) => {
    await using proxy = await startProxy({ refuses: () => 403 });
    environment(variables(proxy.address));
    await using client = clientFor("https://pay.invalid:8443", { maxAttempts: 1, ...settings });
    await failureOf(client.ping());
    return proxy.tunnels.map(({ target }) => target);
  };

  it.each<[string, (address: string) => Readonly<Record<string, string>>]>([
    ["HTTPS_PROXY", (address) => ({ HTTPS_PROXY: `http://${address}` })],
    ["https_proxy", (address) => ({ https_proxy: `http://${address}`, HTTPS_PROXY: "http://x:1" })],
    ["without a scheme", (address) => ({ HTTPS_PROXY: address })],
    ["NO_PROXY with another host", (address) => ({ HTTPS_PROXY: address, NO_PROXY: "x.invalid" })],
  ])("is used: %s", async (_, variables) => {
    expect(await isUsed(variables)).toStrictEqual(["pay.invalid:8443"]);
  });

  it.each<[string, (address: string) => Readonly<Record<string, string>>, Partial<ClientSettings>]>(
    [
      ["none is set", () => ({}), {}],
      ["NO_PROXY exempts it", (address) => ({ HTTPS_PROXY: address, NO_PROXY: ".invalid" }), {}],
      ["the setting says false", (address) => ({ HTTPS_PROXY: address }), { proxy: false }],
    ],
  )("is not used if %s", async (_, variables, settings) => {
    expect(await isUsed(variables, settings)).toStrictEqual([]);
  });

  it.each([
    ["HTTPS_PROXY", "ftp://u:secret@h", "HTTPS_PROXY must be the address of an HTTP proxy"],
    ["HTTPS_PROXY", "http://us%zz:secret@h", "with user and password percent-encoded"],
    ["proxy", "", "proxy must be the address of an HTTP proxy"],
    ["proxy", "socks5://u:secret@h:1", "proxy must be the address of an HTTP proxy"],
    ["proxy", "http://h/secret", "without a path"],
    ["proxy", true, "proxy must be an address or false"],
  ])("or of the setting is refused by name: %s=%s", (name, value, fault) => {
    const settings = {
      ...settingsFor("https://pay.example"),
      ...(name === "proxy" && { proxy: value }),
    };
    environment(name === "proxy" ? {} : { [name]: String(value) });
    const made = makeClientOptions(settings as ClientSettings);
    const said = Result.isFailure(made) ? made.failure.message : "";
    expect(said).toContain(fault);
    expect(said).not.toContain("secret");
  });

  it("leads to no other machine than this one, and a proxy may not be set for it", async () => {
    environment({ HTTPS_PROXY: "ftp://is-not-read", HTTP_PROXY: "http://x:1" });
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    const made = makeClientOptions(settingsFor(server.url, { proxy: "http://proxy.example" }));
    expect(Result.isFailure(made) && made.failure.message).toContain(
      "proxy can be used only with https://",
    );
  });
});
