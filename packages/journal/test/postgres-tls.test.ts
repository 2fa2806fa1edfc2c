import { whyNoPostgres } from "@durable-payments/tools/cluster";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Journal, openJournal } from "../src/index.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { sendOf } from "./support/sends.ts";

const whyNoOpenssl = (): string | undefined => {
  try {
    execFileSync("openssl", ["version"], { stdio: "pipe" });
    return undefined;
  } catch {
    return "openssl is not installed";
  }
};
const missing = whyNoPostgres() ?? whyNoOpenssl();
if (missing !== undefined) console.warn(`TLS to the journal's database is not tested: ${missing}.`);

describe.skipIf(missing !== undefined)("TLS to the journal's database", () => {
  let folder: string;
  let server: PostgresServer;
  const path = (name: string) => join(folder, name);
  const openssl = (...args: ReadonlyArray<string>) =>
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const makeAuthority = (name: string) => {
    const subject = ["-subj", `/CN=${name}`, "-days", "2", "-nodes"];
    openssl(
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
      ...subject,
    );
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "journal-tls-"));
    makeAuthority("authority");
    makeAuthority("stranger");
    const subject = ["-subj", "/CN=localhost", "-nodes"];
    openssl(
      "req",
      "-newkey",
      "rsa:2048",
      "-keyout",
      "server.key",
      "-out",
      "server.csr",
      ...subject,
    );
    writeFileSync(path("names"), "subjectAltName=DNS:localhost\n");
    const signing = ["-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-in",
      "server.csr",
      ...signing,
      "-days",
      "2",
      "-extfile",
      "names",
      "-out",
      "server.crt",
    );
    server = await startPostgres({ certificate: path("server.crt"), key: path("server.key") });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const open = (host: "localhost" | "127.0.0.1", query: string): Promise<Journal> => {
    const address = server.address("postgres").replace("127.0.0.1", host);
    return openJournal({ _tag: "Postgres", address: `${address}?${query}` }, "account-1");
  };

  it.each([
    ["localhost", "verify-full", "authority"],
    ["127.0.0.1", "verify-ca", "authority"],
    ["127.0.0.1", "require", "authority"],
  ] as const)("to %s with %s and the CA that signed it", async (host, mode, authority) => {
    const ca = path(`${authority}.crt`);
    const journal = await open(host, `sslmode=${mode}&sslrootcert=${ca}`);
    expect(await journal.find(sendOf())).toEqual([]);
    await journal.close();
  });

  it("without any CA only where it is set not to verify", async () => {
    await (await open("127.0.0.1", "sslmode=require")).close();
    await expect(open("localhost", "sslmode=verify-full")).rejects.toThrow(/certificate/);
  });

  it.each([
    ["another name", "127.0.0.1", "verify-full", "authority", /does not match|altnames/i],
    ["another CA", "localhost", "verify-full", "stranger", /certificate/],
    ["another CA", "127.0.0.1", "verify-ca", "stranger", /certificate/],
  ] as const)("is refused for %s: %s, %s", async (_, host, mode, authority, words) => {
    const ca = path(`${authority}.crt`);
    await expect(open(host, `sslmode=${mode}&sslrootcert=${ca}`)).rejects.toThrow(words);
  });

  it("is not left out where the server wants it", async () => {
    await expect(open("127.0.0.1", "sslmode=disable")).rejects.toThrow(/no encryption/);
  });
});
