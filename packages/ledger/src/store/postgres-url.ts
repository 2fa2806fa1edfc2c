import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { PoolConfig } from "pg";
import { LedgerUnavailable } from "../errors.ts";

const wrong = (why: string): LedgerUnavailable =>
  new LedgerUnavailable(
    `the PostgreSQL address of PAYMENTS_LEDGER is invalid (${why}): postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`,
  );

const PARAMETERS = ["sslmode", "sslrootcert", "sslcert", "sslkey", "host"];

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const pem = (parameters: URLSearchParams, name: string): string | undefined => {
  const file = parameters.get(name);
  if (file === null) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch {
    // What it names is not repeated: somebody may have given the key itself.
    throw wrong(`${name} must be the path of a file: it is missing or cannot be read`);
  }
};

const tlsOf = (parameters: URLSearchParams, isLocal: boolean): ConnectionOptions | false => {
  const mode = parameters.get("sslmode") ?? (isLocal ? "disable" : "verify-full");
  if (mode === "disable") return false;
  const ca = pem(parameters, "sslrootcert");
  const cert = pem(parameters, "sslcert");
  const key = pem(parameters, "sslkey");
  const shared = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  switch (mode) {
    case "verify-full":
      return shared;
    case "verify-ca":
      return { ...shared, checkServerIdentity: () => undefined };
    case "require":
      // As PostgreSQL's own tools: encrypted, and verified where there is something to verify by.
      return ca === undefined
        ? { ...shared, rejectUnauthorized: false }
        : { ...shared, checkServerIdentity: () => undefined };
    default:
      throw wrong("sslmode must be disable, require, verify-ca or verify-full");
  }
};

/**
 * Reads the address of a PostgreSQL ledger. Without `sslmode` the connection to another host is by
 * TLS with the server's certificate and name verified, and to this host it is plain.
 *
 * @throws LedgerUnavailable; no message repeats the address, which may hold a password.
 */
export const readPostgresUrl = (address: string): PoolConfig & { readonly place: string } => {
  if (!URL.canParse(address)) throw wrong("it is not a URL");
  const { hash, hostname, password, pathname, port, searchParams, username } = new URL(address);
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw wrong(`${unknown} is not a parameter of it`);
  if (hash !== "") throw wrong("a # in user or password must be written as %23");
  let decoded: { readonly user: string; readonly password: string; readonly database: string };
  try {
    decoded = {
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: decodeURIComponent(pathname.slice(1)),
    };
  } catch {
    throw wrong("a % in user, password or database must be written as %25");
  }
  const { database, user } = decoded;
  const host = searchParams.get("host") ?? hostname;
  if (database === "") throw wrong("the database is missing");
  if (host === "") throw wrong("the host is missing");
  const isLocal = host.startsWith("/") || LOOPBACK.test(host);
  return {
    host: host.replaceAll(/^\[|\]$/g, ""),
    port: port === "" ? 5432 : Number(port),
    database,
    ...(user !== "" && { user }),
    ...(decoded.password !== "" && { password: decoded.password }),
    ssl: tlsOf(searchParams, isLocal),
    place: `${host}${port === "" ? "" : `:${port}`}/${database}`,
  };
};
