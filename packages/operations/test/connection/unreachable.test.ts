import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createSecureServer, createServer as createHttp2Server } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, afterEach, expect, it } from "vitest";
import { temporalSettings } from "../../src/connection/settings.ts";
import { withTemporal } from "../../src/connection/temporal.ts";
import { ConnectionFailed } from "../../src/errors.ts";
import { describeRun } from "../../src/runs/state.ts";
import { localhostCertificate } from "../support/localhost-certificate.ts";

const environment = await createLocalEnvironment();
const folder = await mkdtemp(join(tmpdir(), "unreachable-"));
const authority = join(folder, "authority.pem");
await writeFile(authority, localhostCertificate.cert);
const profiles = join(folder, "temporal.toml");
await writeFile(profiles, '[profile.default]\naddress = "127.0.0.1:1"\n');
afterAll(async () => {
  await environment.teardown();
  await rm(folder, { recursive: true });
});

const opened: Array<{ readonly server: Server; readonly sockets: Set<Socket> }> = [];
afterEach(async () => {
  for (const { server, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  }
});

/** Has a server listen, and gives its address. */
const listening = async (server: Server): Promise<string> => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  // Its clients go away at once.
  server.on("tlsClientError", () => undefined);
  server.on("sessionError", () => undefined);
  opened.push({ server, sockets });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `localhost:${(server.address() as AddressInfo).port}`;
};

/** The message with which a connection fails, and how long that took. */
const failing = async (
  variables: Readonly<Record<string, string>>,
): Promise<ConnectionFailed & { readonly took: number }> => {
  const began = performance.now();
  const none = { TEMPORAL_CONFIG_FILE: profiles, ...variables };
  try {
    await withTemporal(temporalSettings(none), (temporal) => describeRun(temporal, "none"));
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return Object.assign(error, { took: performance.now() - began });
  }
  throw new Error("it connected");
};

const grpcAnswer = (status: string, message: string) => {
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": status,
        "grpc-message": message,
      },
      { endStream: true },
    );
  });
  return server;
};

const answering = (server: Server) =>
  server.on("request", (_: unknown, response: { end: (text: string) => void }) =>
    response.end("hello"),
  );

it.each([
  {
    what: "an HTTP server",
    server: () => answering(createHttpServer()),
    says: /not as Temporal does/,
  },
  {
    what: "an HTTPS server, in plain text",
    server: () => answering(createHttpsServer(localhostCertificate)),
    says: /it speaks TLS there.*TEMPORAL_TLS=true/,
  },
  {
    what: "Temporal over TLS, in plain text",
    server: () => createSecureServer(localhostCertificate),
    says: /it speaks TLS there.*TEMPORAL_TLS=true/,
  },
  {
    what: "an HTTP server, by TLS",
    server: () => answering(createHttpServer()),
    tls: { TEMPORAL_TLS: "true" },
    says: /not as Temporal does/,
  },
  {
    what: "an HTTPS server",
    server: () => answering(createHttpsServer(localhostCertificate)),
    tls: { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority },
    says: /not as Temporal does/,
  },
  {
    what: "a server whose certificate nobody trusts",
    server: () => createSecureServer(localhostCertificate),
    tls: { TEMPORAL_TLS: "true" },
    says: /certificate is not trusted.*TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
  },
  {
    what: "a server whose certificate has another name",
    server: () => createSecureServer(localhostCertificate),
    tls: { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority, TEMPORAL_TLS_SERVER_NAME: "other.example" },
    says: /certificate is not trusted.*TEMPORAL_TLS_SERVER_NAME/,
  },
  {
    what: "a server that says nothing",
    server: () => createServer(),
    says: /takes the connection and says nothing/,
  },
  {
    what: "a server that hangs up",
    server: () => createServer((socket) => socket.destroy()),
    says: /something listens there that is not Temporal/,
  },
  {
    what: "a TLS server that breaks the handshake off",
    server: () => createServer((socket) => socket.destroy()),
    tls: { TEMPORAL_TLS: "true" },
    says: /the TLS handshake failed/,
  },
  {
    what: "a server that refuses the key",
    server: () => grpcAnswer("16", "Request unauthorized."),
    tls: { TEMPORAL_API_KEY: "secret-key", TEMPORAL_TLS: "false" },
    says: /it refuses the credentials \(TEMPORAL_API_KEY.*Request unauthorized/,
  },
  {
    what: "a server that permits nothing",
    server: () => grpcAnswer("7", "no"),
    says: /it refuses the credentials/,
  },
  {
    what: "another gRPC server",
    server: () => grpcAnswer("12", "unknown service"),
    says: /does not know this request: it is not Temporal/,
  },
])("says what is there: $what", async ({ says, server, tls = {} }) => {
  const address = await listening(server());
  const { message, next, took } = await failing({ TEMPORAL_ADDRESS: address, ...tls });
  expect(message).toMatch(says);
  expect(message).toContain(address);
  expect(message).not.toContain("secret-key");
  expect(next?.operation).not.toBe("startServer");
  expect(took).toBeLessThan(3_000);
});

it("says that nothing listens, and how to start a server on this machine", async () => {
  const closed = createServer();
  const address = await listening(closed);
  closed.close();
  await once(closed, "close");
  opened.splice(0);
  const { message, next, reason, took } = await failing({ TEMPORAL_ADDRESS: address });
  expect(message).toBe(
    `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): nothing listens there (connection refused).`,
  );
  expect(next).toEqual({ operation: "startServer" });
  expect(reason).toBe("cannotConnect");
  expect(took).toBeLessThan(3_000);
});

it("says that a name is not known, and advises no server on this machine", async () => {
  const { message, next, took } = await failing({
    TEMPORAL_ADDRESS: "no-such-host.invalid:7233",
    PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL: "true",
  });
  expect(message).toMatch(/no-such-host.invalid:7233 .*the name of the host/);
  expect(next).toBeUndefined();
  expect(took).toBeLessThan(3_000);
});

it("says that Temporal speaks plain text, where TLS was asked for", async () => {
  const { message, took } = await failing({
    TEMPORAL_ADDRESS: environment.address,
    TEMPORAL_API_KEY: "secret-key",
  });
  expect(message).toMatch(/it speaks plain text there.*TEMPORAL_TLS=false/);
  expect(message).not.toContain("secret-key");
  expect(took).toBeLessThan(3_000);
});

it("says that a namespace is not there", async () => {
  const { message, reason, took } = await failing({
    TEMPORAL_ADDRESS: environment.address,
    TEMPORAL_NAMESPACE: "nowhere",
  });
  expect(reason).toBe("namespaceNotFound");
  expect(message).toContain('has no namespace "nowhere" (TEMPORAL_NAMESPACE)');
  expect(took).toBeLessThan(3_000);
});

it.each([
  [
    { TEMPORAL_PROFILE: "nosuch" },
    `TEMPORAL_PROFILE names the profile "nosuch", and ${profiles} has none of that name.`,
  ],
  [
    { TEMPORAL_PROFILE: "nosuch", TEMPORAL_ADDRESS: environment.address },
    `TEMPORAL_PROFILE names the profile "nosuch", and ${profiles} has none of that name.`,
  ],
  [
    { TEMPORAL_CONFIG_FILE: join(folder, "none.toml"), TEMPORAL_ADDRESS: environment.address },
    "TEMPORAL_CONFIG_FILE must be the path of a file: it is missing or cannot be read.",
  ],
  [
    { TEMPORAL_ADDRESS: "http://127.0.0.1:7233/" },
    "TEMPORAL_ADDRESS must be a host and a port without a scheme and a path, such as 127.0.0.1:7233.",
  ],
  [
    { TEMPORAL_ADDRESS: "https://ada:secret@temporal.example:7233" },
    "TEMPORAL_ADDRESS must be a host and a port without a scheme and a path, such as temporal.example:7233.",
  ],
  [
    { TEMPORAL_TLS: "maybe", TEMPORAL_ADDRESS: environment.address },
    "TEMPORAL_TLS must be true or false.",
  ],
  [{ TEMPORAL_ADDRESS: "localhost:temporal" }, "such as localhost:7233."],
  [{ TEMPORAL_ADDRESS: "localhost:99999" }, "such as localhost:7233."],
  [
    { TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, "none.pem") },
    "TEMPORAL_TLS_CLIENT_CERT_PATH must be the path of a file: it is missing or cannot be read.",
  ],
  [
    { TEMPORAL_TLS_CLIENT_KEY_PATH: localhostCertificate.key },
    "TEMPORAL_TLS_CLIENT_KEY_PATH must be the path of a file: it is missing or cannot be read.",
  ],
  [
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, "none.pem") },
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH must be the path of a file: it is missing or cannot be read.",
  ],
  [
    { TEMPORAL_TLS_CLIENT_CERT_PATH: profiles, TEMPORAL_TLS_CLIENT_KEY_PATH: profiles },
    "a file of TEMPORAL_TLS_* holds no certificate or key in PEM",
  ],
])("takes no other Temporal than the one that is named: %j", async (variables, says) => {
  const { message, next } = await failing(variables);
  expect(message).toContain(says);
  expect(message).not.toContain("PRIVATE KEY");
  expect(next).toBeUndefined();
});

it("connects by TLS where the certificate is of a trusted authority", async () => {
  const secure = createTlsServer({ ...localhostCertificate, ALPNProtocols: ["h2"] });
  const [host = "", port] = environment.address.split(":");
  const { connect } = await import("node:net");
  secure.on("secureConnection", (client) => {
    const temporal = connect(Number(port), host);
    client.pipe(temporal).pipe(client);
    client.on("error", () => temporal.destroy());
    temporal.on("error", () => client.destroy());
  });
  const address = await listening(secure);
  const version = await withTemporal(
    temporalSettings({
      TEMPORAL_CONFIG_FILE: profiles,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority,
    }),
    async ({ client }) => (await client.workflowService.getSystemInfo({})).serverVersion,
  );
  expect(version).toBeTruthy();
});
