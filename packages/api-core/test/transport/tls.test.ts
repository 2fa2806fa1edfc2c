import { Result } from "effect";
import { createPrivateKey } from "node:crypto";
import type { TlsOptions, TLSSocket } from "node:tls";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import { makeCertificate, tlsFiles } from "../support/certificates.ts";
import { clientFor, failureOf, settingsFor } from "../support/client.ts";
import { answers } from "../support/responses.ts";
import { signsIn, startServer } from "../support/server.ts";

const authority = makeCertificate({ commonName: "Our CA", isAuthority: true });
const stranger = makeCertificate({ commonName: "Another CA", isAuthority: true });
const service = makeCertificate({
  commonName: "service",
  names: ["localhost"],
  signedBy: authority,
});
const ourClient = makeCertificate({ commonName: "client-7", signedBy: authority });
const ca = authority.cert;

/** undici uses a connection again one turn of the event loop after a response: two take turns. */
const KEPT = 2;

const serve = (tls: TlsOptions) => startServer(() => answers.ping, signsIn, tls);

/** What a ping over TLS comes to, how many connections it took, and how long. */
const ping = async (
  server: TlsOptions,
  tls: Parameters<typeof tlsFiles>[0] | undefined,
  maxAttempts = 100,
) => {
  await using running = await serve(server);
  // The waits between a hundred attempts would be minutes.
  await using client = clientFor(running.url, {
    ...(tls !== undefined && tlsFiles(tls)),
    maxAttempts,
    retryBaseMs: 1000,
  });
  const error = await failureOf(client.ping());
  const { connections, signIns } = running;
  return { error, connections: connections(), signIns: signIns.length };
};

it("certificates that change are shown by the connections from then on", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const shown: Array<unknown> = [];
  await using server = await startServer(
    () =>
      ({ response, socket }) => {
        shown.push((socket as TLSSocket).getPeerCertificate().subject.CN);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(answers.ping.body));
      },
    signsIn,
    { ...service, ca, requestCert: true, rejectUnauthorized: true },
  );
  const next = makeCertificate({ commonName: "client-7 renewed", signedBy: authority });
  const files = tlsFiles({ ca, ...ourClient });
  const rewrite = (texts: Parameters<typeof tlsFiles>[0]) => {
    tlsFiles(texts, dirname(files["caFile"] ?? ""));
    vi.advanceTimersByTime(1_000);
  };
  const warnings: Array<string> = [];
  const logger = { debug: () => undefined, warn: (text: string) => warnings.push(text) };
  await using client = clientFor(server.url, { ...files, logger });
  await client.ping();
  await client.ping();
  expect(server.connections()).toBe(KEPT);
  rewrite(next);
  await client.ping();
  await client.ping();
  expect(shown).toStrictEqual(["client-7", "client-7", "client-7 renewed", "client-7 renewed"]);
  // Half of the next pair is not a pair.
  for (let second = 0; second < 3; second++) {
    rewrite({ cert: ourClient.cert });
    await client.ping();
  }
  expect(shown.at(-1)).toBe("client-7 renewed");
  expect(server.connections()).toBe(2 * KEPT);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/matching PEM files.* The earlier contents remain in use\.$/);
});

describe("a service whose certificate", () => {
  it("a CA of our own has signed is trusted by its certificate", async () => {
    await using server = await serve(service);
    await using client = clientFor(server.url, tlsFiles({ ca }));
    for (let call = 0; call < 9; call++) {
      expect(await client.ping()).toStrictEqual({ message: "pong" });
    }
    expect(server.connections()).toBe(KEPT);
  });

  it("is one of several CAs in one file", async () => {
    await using server = await serve(service);
    await using client = clientFor(server.url, tlsFiles({ ca: `${stranger.cert}\n${ca}` }));
    expect(await client.ping()).toStrictEqual({ message: "pong" });
  });

  it.each<[string, TlsOptions, { readonly ca: string } | undefined, string, string]>([
    [
      "nobody trusted has signed",
      service,
      undefined,
      "its TLS certificate is not signed by a trusted CA (https://localhost:",
      "PAYMENTS_CA_FILE (caFile)",
    ],
    [
      "another CA has signed",
      service,
      { ca: stranger.cert },
      "its TLS certificate is not signed by a trusted CA",
      "PAYMENTS_CA_FILE (caFile)",
    ],
    [
      "it has signed itself",
      makeCertificate({ commonName: "localhost", names: ["localhost"] }),
      { ca },
      "its TLS certificate is not signed by a trusted CA",
      "PAYMENTS_CA_FILE (caFile)",
    ],
    [
      "is for another host",
      makeCertificate({ commonName: "x", names: ["payments.example"], signedBy: authority }),
      { ca },
      "its TLS certificate is for another name",
      "Check the host name in PAYMENTS_BASE_URL",
    ],
    [
      "has expired",
      makeCertificate({
        commonName: "x",
        names: ["localhost"],
        signedBy: authority,
        validForDays: -1,
      }),
      { ca },
      "its TLS certificate has expired",
      "check the clock",
    ],
  ])("%s: nothing is sent, once, with what to do", async (_, server, tls, reason, remedy) => {
    const { connections, error, signIns } = await ping(server, tls);
    expect(error).toMatchObject({ _tag: "Unavailable", operation: "ping", carriedOut: "no" });
    expect(error.message).toContain(reason);
    expect(error.message).toContain(remedy);
    expect({ connections, signIns }).toStrictEqual({ connections: 1, signIns: 0 });
  });

  it("is not trusted though Node is told to trust everything", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    // Node warns of it.
    vi.spyOn(process, "emitWarning").mockReturnValue();
    try {
      const { error, signIns } = await ping(service, undefined);
      expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
      expect(signIns).toBe(0);
    } finally {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    }
  });
});

describe.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a service that wants a client certificate, %s",
  (version) => {
    const strict = {
      ...service,
      ca,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: version,
      maxVersion: version,
    } as const;

    it("gets it", async () => {
      await using server = await serve(strict);
      await using client = clientFor(server.url, tlsFiles({ ca, ...ourClient }));
      expect(await client.ping()).toStrictEqual({ message: "pong" });
    });

    it("that is not given is refused once, with what to do", async () => {
      const { connections, error, signIns } = await ping(strict, { ca });
      expect(error).toMatchObject({ _tag: "Unavailable", operation: "ping", carriedOut: "no" });
      expect(error.message).toContain("PAYMENTS_CLIENT_CERT_FILE");
      expect({ connections, signIns }).toStrictEqual({ connections: 1, signIns: 0 });
    });

    it("of another CA is not let in, and the call ends soon", async () => {
      const wrong = makeCertificate({ commonName: "client-7", signedBy: stranger });
      const { error, signIns } = await ping(strict, { ca, ...wrong }, 2);
      expect(error).toMatchObject({ _tag: "Unavailable", operation: "ping", carriedOut: "no" });
      expect(signIns).toBe(0);
    });
  },
);

it("a service that speaks no TLS is told by that", async () => {
  await using server = await startServer(() => answers.ping);
  await using client = clientFor(server.url.replace("http:", "https:"), { maxAttempts: 1 });
  const error = await failureOf(client.ping());
  expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  expect(error.message).toContain("it does not speak TLS (https://127.0.0.1:");
});

it("a service that speaks only old TLS is not spoken to", async () => {
  const old = {
    ...service,
    minVersion: "TLSv1.1",
    maxVersion: "TLSv1.1",
    ciphers: "ALL@SECLEVEL=0",
  };
  const { connections, error } = await ping(old as TlsOptions, { ca });
  expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
  expect(error.message).toContain("it does not speak TLS 1.2 or 1.3");
  expect(connections).toBe(1);
});

describe("the files of TLS", () => {
  const faultsOf = (
    texts: Parameters<typeof tlsFiles>[0],
    changes: Partial<ClientSettings> = {},
    baseUrl = "https://payments.example",
  ): string => {
    const made = makeClientOptions(settingsFor(baseUrl, { ...tlsFiles(texts), ...changes }));
    return Result.isFailure(made) ? made.failure.message : "";
  };
  const CERT = "PAYMENTS_CLIENT_CERT_FILE (clientCertFile)";
  const KEY = "PAYMENTS_CLIENT_KEY_FILE (clientKeyFile)";

  const encrypted = String(
    createPrivateKey(ourClient.key).export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "secret",
    }),
  );

  it.each([{ ca }, ourClient, { ca, ...ourClient }, {}])("may be these, %#", (texts) => {
    expect(faultsOf(texts)).toBe("");
  });

  it.each([
    [{ ca: "" }, "PAYMENTS_CA_FILE (caFile) must name a file of certificates in PEM"],
    [{ ca: ca.slice(0, 200) }, "PAYMENTS_CA_FILE (caFile) must name a file of certificates"],
    [{ cert: ourClient.cert }, `${CERT} and ${KEY} must be set together`],
    [{ key: ourClient.key }, `${CERT} and ${KEY} must be set together`],
    [{ ...ourClient, key: ourClient.cert }, `${CERT}, ${KEY} must name matching PEM files`],
    [{ ...ourClient, key: stranger.key }, "must name matching PEM files"],
    [{ ...ourClient, key: encrypted }, "with an unencrypted key"],
    [
      { ...ourClient, key: ourClient.key.slice(0, 200) },
      `${CERT}, ${KEY} must name matching PEM files`,
    ],
  ])("%# are refused by name before anything is sent", (texts, fault) => {
    const said = faultsOf(texts);
    expect(said).toContain(fault);
    expect(said).not.toContain(ourClient.key.slice(40, 80));
  });

  it("are refused if one is missing, without what stands in the place of its path", () => {
    const said = faultsOf({}, { caFile: ourClient.key });
    expect(said).toContain("PAYMENTS_CA_FILE (caFile) must be the path of a file");
    expect(said).not.toContain(ourClient.key.slice(40, 80));
  });

  it("are refused for http, which uses none", () => {
    expect(faultsOf({ ca }, {}, "http://127.0.0.1:3000")).toContain(
      "caFile can be used only with https://",
    );
  });
});
