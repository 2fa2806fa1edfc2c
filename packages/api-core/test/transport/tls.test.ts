import { Result } from "effect";
import type { TlsOptions, TLSSocket } from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { type ClientSettings, makeClientOptions } from "../../src/client/config.ts";
import type { TlsSettings } from "../../src/client/tls.ts";
import { makeCertificate } from "../support/certificates.ts";
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

const serve = (tls: TlsOptions) => startServer(() => answers.ping, signsIn, tls);

/** What a ping over TLS comes to, how many connections it took, and how long. */
const ping = async (server: TlsOptions, tls: ClientSettings["tls"], maxAttempts = 100) => {
  await using running = await serve(server);
  // The waits between a hundred attempts would be minutes.
  await using client = clientFor(running.url, {
    ...(tls !== undefined && { tls }),
    maxAttempts,
    retryBaseMs: 1000,
  });
  const error = await failureOf(client.ping());
  const { connections, signIns } = running;
  return { error, connections: connections(), signIns: signIns.length };
};

describe("certificates that change while the client is in use", () => {
  it("are shown by the connections from then on; one of an earlier certificate is used no more", async () => {
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
    let tls: TlsSettings = { ca, ...ourClient };
    await using client = clientFor(server.url, { tls: () => tls });
    await client.ping();
    await client.ping();
    expect(server.connections()).toBe(1);
    tls = { ca, ...next };
    await client.ping();
    await client.ping();
    expect(shown).toStrictEqual(["client-7", "client-7", "client-7 renewed", "client-7 renewed"]);
    // Half of the next pair is no pair.
    tls = { ca, cert: ourClient.cert, key: next.key };
    await client.ping();
    expect(shown.at(-1)).toBe("client-7 renewed");
    expect(server.connections()).toBe(2);
  });
});

describe("a service whose certificate", () => {
  it("a CA of our own has signed is trusted by its certificate", async () => {
    await using server = await serve(service);
    await using client = clientFor(server.url, { tls: { ca } });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
    expect(server.connections()).toBe(1);
  });

  it("is one of several CAs in one file", async () => {
    await using server = await serve(service);
    await using client = clientFor(server.url, { tls: { ca: `${stranger.cert}\n${ca}` } });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
  });

  it.each<[string, TlsOptions, ClientSettings["tls"], string, string]>([
    [
      "nobody trusted has signed",
      service,
      undefined,
      "nobody trusted has signed its TLS certificate (https://localhost:",
      "PAYMENTS_CA_FILE (tls.ca)",
    ],
    [
      "another CA has signed",
      service,
      { ca: stranger.cert },
      "nobody trusted has signed its TLS certificate",
      "PAYMENTS_CA_FILE (tls.ca)",
    ],
    [
      "it has signed itself",
      makeCertificate({ commonName: "localhost", names: ["localhost"] }),
      { ca },
      "nobody trusted has signed its TLS certificate",
      "PAYMENTS_CA_FILE (tls.ca)",
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
      await using client = clientFor(server.url, { tls: { ca, ...ourClient } });
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

describe("settings of TLS", () => {
  const faultsOf = (tls: unknown, baseUrl = "https://payments.example"): string => {
    const settings = { ...settingsFor(baseUrl), tls } as ClientSettings;
    const made = makeClientOptions(settings, {});
    return Result.isFailure(made) ? made.failure.message : "";
  };
  const CERT = "PAYMENTS_CLIENT_CERT_FILE (tls.cert)";
  const KEY = "PAYMENTS_CLIENT_KEY_FILE (tls.key)";
  const broken = ca.replace(/\n[A-Z]/i, "\n-");

  it.each([{ ca }, ourClient, { ca, ...ourClient }, {}])("may be these, %#", (tls) => {
    expect(faultsOf(tls)).toBe("");
  });

  it.each([
    ["/etc/ssl/ca.pem", "tls must be an object"],
    [
      { ca: "/etc/ssl/ca.pem" },
      "PAYMENTS_CA_FILE (tls.ca) must be the text of certificates in PEM",
    ],
    [{ ca: "" }, "PAYMENTS_CA_FILE (tls.ca) must be the text of certificates in PEM"],
    [{ ca: 7 }, "PAYMENTS_CA_FILE (tls.ca) must be the text of certificates in PEM"],
    [{ ca: `${ca}\n${broken}` }, "PAYMENTS_CA_FILE (tls.ca) has a certificate that cannot be read"],
    [{ ca: ourClient.key }, "PAYMENTS_CA_FILE (tls.ca) must be the text of certificates in PEM"],
    [{ cert: ourClient.cert }, `${KEY} must be given with the certificate`],
    [{ key: ourClient.key }, `${CERT} must be given with the key`],
    [{ ...ourClient, key: ourClient.cert }, `${KEY} must be the text of a private key in PEM`],
    [{ ...ourClient, key: stranger.key }, `${KEY} is not the key of the certificate`],
    [
      { ...ourClient, key: ourClient.key.replaceAll("PRIVATE", "ENCRYPTED PRIVATE") },
      `${KEY} is encrypted: decrypt it first`,
    ],
    [{ ...ourClient, key: ourClient.key.slice(0, 200) }, `${KEY} is a private key that cannot be`],
    [{ certificate: ca }, "tls.certificate is not a setting (tls takes ca, cert and key)"],
    [{ crt: ca }, "tls.crt is not a setting: is it tls.cert?"],
    [{ rejectUnauthorized: false }, "tls.rejectUnauthorized is not a setting"],
  ])("%# are refused by name before anything is sent", (tls, fault) => {
    const said = faultsOf(tls);
    expect(said).toContain(fault);
    expect(said).not.toContain(ourClient.key.slice(40, 80));
  });

  it("are refused for http, which uses none", () => {
    expect(faultsOf({ ca }, "http://127.0.0.1:3000")).toContain("is for https:// only");
  });
});
