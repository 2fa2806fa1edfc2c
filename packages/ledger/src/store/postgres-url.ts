import { isLoopback } from "@durable-payments/client/values";
import { accessSync, constants } from "node:fs";
import { LedgerUnavailable } from "./store.ts";

const wrong = (why: string): LedgerUnavailable =>
  new LedgerUnavailable(
    `the PostgreSQL address of PAYMENTS_LEDGER is invalid (${why}): postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`,
  );

const MODES = ["disable", "require", "verify-ca", "verify-full"];
const FILES = ["sslrootcert", "sslcert", "sslkey"];
const LIMIT = "connection_limit";
const PARAMETERS = ["sslmode", ...FILES, "host", LIMIT];

/** Two transactions that write and three that read: more only wait for each other at the disk. */
const DEFAULT_LIMIT = "5";

const checkFile = (name: string, file: string | null): void => {
  try {
    if (file !== null) accessSync(file, constants.R_OK);
  } catch {
    // The value is not repeated: it may be the key itself.
    throw wrong(`${name} must be the path of a file that exists and can be read`);
  }
};

/** The decoded names in an address. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong("a % in user, password or database must be written as %25");
  }
};

/**
 * Reads the address of a ledger: connections to other hosts use verified TLS. No message repeats the address: it may
 * hold a password.
 */
export const readPostgresUrl = (address: string) => {
  const url = URL.parse(address);
  if (url === null) throw wrong("it is not a URL");
  const { hash, hostname, password, pathname, port, searchParams, username } = url;
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw wrong(`${unknown} is not a valid parameter`);
  if (hash !== "") throw wrong("a # in user or password must be written as %23");
  const [database] = [pathname.slice(1), username, password].map(decoded);
  const host = searchParams.get("host") ?? hostname;
  if (!database) throw wrong("the database is missing");
  if (host === "") throw wrong("the host is missing");
  const isLocal = host.startsWith("/") || isLoopback(host);
  const mode = searchParams.get("sslmode") ?? (isLocal ? "disable" : "verify-full");
  if (!MODES.includes(mode))
    throw wrong("sslmode must be disable, require, verify-ca or verify-full");
  for (const name of FILES) checkFile(name, searchParams.get(name));
  const limit = searchParams.get(LIMIT) ?? DEFAULT_LIMIT;
  if (!/^[1-9]\d{0,2}$/.test(limit)) throw wrong(`${LIMIT} must be a number from 1 to 999`);
  searchParams.delete(LIMIT);
  searchParams.set("sslmode", mode);
  // Without it, pg treats each mode as verify-full.
  searchParams.set("uselibpqcompat", "true");
  return {
    connectionString: url.href,
    place: `${host}${port === "" ? "" : `:${port}`}/${database}`,
    /** Most connections of this process. */
    limit: Number(limit),
  };
};
