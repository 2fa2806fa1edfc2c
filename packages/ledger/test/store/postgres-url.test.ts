import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, expect, it, vi } from "vitest";
import { readPostgresUrl } from "../../src/store/postgres-url.ts";

const folder = mkdtempSync(join(tmpdir(), "ledger-ca-"));
const ca = join(folder, "ca.pem");
writeFileSync(ca, "a certificate");
afterAll(() => rmSync(folder, { recursive: true }));

/** What pg makes of it. */
const read = (address: string) => new Client(readPostgresUrl(address));
const sslOf = (query: string) => read(`postgres://db.example/pay?${query}`).ssl;

it("reads user, password, host, port and database", () => {
  const address = "postgres://us%20er:p%40ss@db.example:6543/pay?sslmode=disable";
  expect(read(address)).toMatchObject({
    host: "db.example",
    port: 6543,
    database: "pay",
    user: "us er",
    password: "p@ss",
    ssl: false,
  });
  expect(readPostgresUrl(address).place).toBe("db.example:6543/pay");
});

it("leaves user and password to PGUSER, PGPASSWORD and the password file where it has none", () => {
  vi.stubEnv("PGUSER", "ada");
  expect(read("postgresql://db.example/pay")).toMatchObject({ user: "ada", port: 5432 });
  vi.unstubAllEnvs();
});

it.each(["localhost", "127.0.0.1", "[::1]"])("is plain to this host, %s", (host) => {
  expect(read(`postgres://${host}/pay`)).toMatchObject({
    host: host.replaceAll(/[[\]]/g, ""),
    ssl: false,
  });
});

it("is plain through a socket's folder", () => {
  expect(read("postgres://x/pay?host=/run/postgresql")).toMatchObject({
    host: "/run/postgresql",
    ssl: false,
  });
});

it("verifies certificate and name of another host by default", () => {
  for (const query of ["", "?sslmode=verify-full"]) {
    expect(read(`postgres://db.example/pay${query}`).ssl).toEqual({});
  }
  expect(sslOf(`sslrootcert=${ca}`)).toEqual({ ca: "a certificate" });
});

it("verifies less only where it is set so", () => {
  expect(sslOf("sslmode=require")).toEqual({ rejectUnauthorized: false });
  for (const mode of ["require", "verify-ca"]) {
    const tls = sslOf(`sslmode=${mode}&sslrootcert=${ca}`);
    expect(tls).toMatchObject({ ca: "a certificate" });
    // No fault of the name, whatever it is; the certificate itself is verified.
    expect(tls).toHaveProperty("checkServerIdentity");
    expect(tls).not.toHaveProperty("rejectUnauthorized");
  }
});

it.each([
  ["postgres://u:secret@db.example", /database is missing/],
  ["postgres://u:secret@db.example/d?sslmode=prefer", /sslmode must be disable, require/],
  ["postgres://u:secret@db.example/d?sslmod=disable", /sslmod is not a valid parameter/],
  ["postgres://u:secret@db.example/d#x", /%23/],
  ["postgres://u:secret%@db.example/d", /%25/],
  [
    "postgres://u:secret@db.example/d?sslrootcert=/no/such/file",
    /sslrootcert must be the path of a file/,
  ],
  ["postgres://u:secret@:x/d", /not a URL/],
])("refuses %s with words, and does not repeat it", (address, words) => {
  const wrong = () => readPostgresUrl(address);
  expect(wrong).toThrow(words);
  expect(wrong).not.toThrow(/secret/);
});
