import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readPostgresUrl } from "../../src/store/postgres-url.ts";

const folder = mkdtempSync(join(tmpdir(), "ledger-ca-"));
const ca = join(folder, "ca.pem");
writeFileSync(ca, "a certificate");
afterAll(() => rmSync(folder, { recursive: true }));

it("reads user, password, host, port and database", () => {
  expect(readPostgresUrl("postgres://us%20er:p%40ss@db.example:6543/pay?sslmode=disable")).toEqual({
    host: "db.example",
    port: 6543,
    database: "pay",
    user: "us er",
    password: "p@ss",
    ssl: false,
    place: "db.example:6543/pay",
  });
});

it("leaves user and password to PGUSER, PGPASSWORD and the password file where it has none", () => {
  const read = readPostgresUrl("postgresql://db.example/pay");
  expect(read).not.toHaveProperty("user");
  expect(read).not.toHaveProperty("password");
  expect(read.port).toBe(5432);
});

it.each(["localhost", "127.0.0.1", "[::1]"])("is plain to this host, %s", (host) => {
  expect(readPostgresUrl(`postgres://${host}/pay`).ssl).toBe(false);
});

it("is plain through a socket's folder", () => {
  expect(readPostgresUrl("postgres://x/pay?host=/run/postgresql")).toMatchObject({
    host: "/run/postgresql",
    ssl: false,
  });
});

it("verifies certificate and name of another host by default", () => {
  for (const query of ["", "?sslmode=verify-full"]) {
    expect(readPostgresUrl(`postgres://db.example/pay${query}`).ssl).toEqual({});
  }
  expect(readPostgresUrl(`postgres://db.example/pay?sslrootcert=${ca}`).ssl).toEqual({
    ca: "a certificate",
  });
});

it("verifies less only where it is set so", () => {
  const sslOf = (query: string) => readPostgresUrl(`postgres://db.example/pay?${query}`).ssl;
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
  ["postgres://u:secret@db.example/d?sslmod=disable", /sslmod is not a parameter/],
  ["postgres://u:secret@db.example/d#x", /%23/],
  ["postgres://u:secret%@db.example/d", /%25/],
  [
    "postgres://u:secret@db.example/d?sslrootcert=/no/such/file",
    /sslrootcert must be the path of a file/,
  ],
  ["postgres://u:secret@:x/d", /not a URL/],
])("refuses %s with words, and does not repeat it", (address, words) => {
  const read = () => readPostgresUrl(address);
  expect(read).toThrow(words);
  expect(read).not.toThrow(/secret/);
});
