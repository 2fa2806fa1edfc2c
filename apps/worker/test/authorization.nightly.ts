import { execFileSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import {
  accessOf,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Cluster, startCluster, whyNoCluster } from "./support/cluster.ts";
import { examplePayout } from "./support/inputs.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

const missing = whyNoCluster();

const SECOND = 1_000;

/** Keys of an issuer of tokens, as its endpoint shows them, and tokens that they sign. */
const makeIssuer = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwks = {
    keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", alg: "ES256", use: "sig" }],
  };
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const token = (permissions: readonly string[], expiresIn = 3_600): string => {
    const now = Math.floor(Date.now() / SECOND);
    const claims = { sub: "somebody", permissions, iat: now - 60, exp: now + expiresIn };
    const text = `${encoded({ alg: "ES256", kid: "k1", typ: "JWT" })}.${encoded(claims)}`;
    const signature = sign("sha256", Buffer.from(text), {
      key: privateKey,
      dsaEncoding: "ieee-p1363",
    });
    return `${text}.${signature.toString("base64url")}`;
  };
  return { jwks, token };
};

describe("a Temporal server with roles", skippedBecause(missing), () => {
  const folder = makeTestFolder();
  const authority = join(folder.path, "authority.pem");
  const certificate = join(folder.path, "certificate.pem");
  const key = join(folder.path, "key.pem");
  const issuer = makeIssuer();
  let cluster: Cluster | undefined;
  let endpoint: Server;
  let address: string;
  let simulator: ReadyProcess;
  // Its first start also creates the ledger, which the command line reads.
  let worker: ReadyProcess;

  beforeAll(async () => {
    const openssl = (...args: readonly string[]) =>
      execFileSync("openssl", args, { cwd: folder.path, stdio: "pipe" });
    const request = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
    ];
    openssl(...request, "-subj", "/CN=authority", "-keyout", "ca-key.pem", "-out", authority);
    // Of the server, and of its clients.
    const names = [
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=IP:127.0.0.1,DNS:localhost",
    ];
    const signed = [
      "-CA",
      authority,
      "-CAkey",
      "ca-key.pem",
      "-addext",
      "basicConstraints=CA:FALSE",
    ];
    openssl(...request, ...names, ...signed, "-keyout", key, "-out", certificate);
    endpoint = createServer((_, response) => void response.end(JSON.stringify(issuer.jwks)));
    endpoint.listen(0, "127.0.0.1");
    await once(endpoint, "listening");
    const listening = endpoint.address();
    const port = typeof listening === "object" ? listening?.port : undefined;

    cluster = await startCluster({
      folder: folder.path,
      services: ["frontend", "internal-frontend", "history", "matching", "worker"],
      security: {
        tls: {
          frontend: {
            server: {
              certFile: certificate,
              keyFile: key,
              clientCaFiles: [authority],
              requireClientAuth: true,
            },
            client: { serverName: "localhost", rootCaFiles: [authority] },
          },
        },
        authorization: {
          authorizer: "default",
          claimMapper: "default",
          permissionsClaimName: "permissions",
          jwtKeyProvider: {
            keySourceURIs: [`http://127.0.0.1:${port}`],
            refreshInterval: "1m",
          },
        },
      },
      connection: {
        apiKey: issuer.token(["temporal-system:admin"]),
        tls: {
          serverRootCACertificate: readFileSync(authority),
          clientCertPair: { crt: readFileSync(certificate), key: readFileSync(key) },
        },
      },
    });
    ({ address } = cluster);
    simulator = await startApp("simulator", ["--port=0", "--json", "--settle-after=0"]);
    worker = await startApp("worker", ["--json"], withToken(issuer.token(["default:write"])));
  });
  afterAll(async () => {
    await worker?.kill();
    await simulator?.kill();
    await cluster?.stop();
    endpoint?.close();
    folder.remove();
  });

  const withToken = (token: string): NodeJS.ProcessEnv => ({
    ...folder.variables,
    ...workerVariables({ address }, accessOf(simulator)),
    PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
    TEMPORAL_API_KEY: token,
    TEMPORAL_TLS_CLIENT_CERT_PATH: certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: key,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority,
  });
  const duplicate = ["--not-a-duplicate", "another test"];
  const payout = (id: string) => ["pay", examplePayout, "--id", id, "--by", "ada", ...duplicate];

  const starter = (args: readonly string[], ...permissions: readonly string[]) =>
    runApp("starter", args, withToken(issuer.token(permissions)));
  const unwrapped = (text: string) => text.replace(/\s+/g, " ");

  it("asks for a client certificate", async () => {
    const {
      TEMPORAL_TLS_CLIENT_CERT_PATH: _certificate,
      TEMPORAL_TLS_CLIENT_KEY_PATH: _key,
      ...without
    } = withToken(issuer.token(["default:write"]));
    const { exitCode, stderr } = await runApp("starter", payout("by-nobody"), without);
    expect(exitCode).toBe(3);
    expect(unwrapped(stderr)).toContain(
      "TEMPORAL_TLS_CLIENT_CERT_PATH (does it require a client certificate?)",
    );
  });

  it("lets who may read look, and start nothing", async () => {
    expect(await starter(["list"], "default:read")).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await starter(payout("by-reader"), "default:read");
    expect(exitCode).toBe(3);
    expect(unwrapped(stderr)).toContain(
      "it refuses the credentials (API key or client certificate)",
    );
    const { stdout } = await starter(["list"], "default:read");
    expect(stdout).not.toContain("by-reader");
  });

  it.each([
    ["of another namespace", issuer.token(["other:write"])],
    ["that has expired", issuer.token(["default:write"], -30)],
    [
      "of a worker alone, which Temporal's own rules let do nothing",
      issuer.token(["default:worker"]),
    ],
  ])("refuses a token %s", async (_, token) => {
    // A list needs the ledger alone.
    const { exitCode, stderr } = await runApp("starter", payout("by-other"), withToken(token));
    expect(exitCode).toBe(3);
    expect(unwrapped(stderr)).toContain(
      "it refuses the credentials (API key or client certificate)",
    );
    expect(stderr).not.toContain(token);
  });

  it("starts no worker that may not read the namespace", async () => {
    const variables = withToken(issuer.token(["default:worker"]));
    const { exitCode, stderr } = await runApp("worker", ["--json"], variables);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Check TEMPORAL_API_KEY or the certificate of TEMPORAL_TLS_*");
  });

  it("lets who may write pay, and work", async () => {
    expect(await starter(payout("by-writer"), "default:write")).toMatchObject({ exitCode: 0 });
    const shown = ["show", "by-writer", "--follow", "--exit-status"];
    expect(await starter(shown, "default:write")).toMatchObject({ exitCode: 0 });
  });
});
