import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";

/** Names and values as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether a host name of a URL is this machine. */
export const isThisMachine = (hostname: string): boolean => LOOPBACK.test(hostname);

const DEFAULT_PORT = "443";

/** `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`; an IPv6 address without brackets has no port. */
const ENTRY = /^(?:\[(?<address>[^\]]*)\]|(?<host>[^:]*))(?::(?<port>\d+))?$/;

const withoutDot = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Whether an entry of `NO_PROXY` exempts an address: its host, and what is below it. */
const isExempt = ({ hostname, port }: URL, entry: string): boolean => {
  const { address, host, port: only } = ENTRY.exec(entry)?.groups ?? {};
  if (only !== undefined && only !== (port === "" ? DEFAULT_PORT : port)) return false;
  const wanted = withoutDot(address ?? host ?? entry);
  if (wanted === "*") return true;
  const name = withoutDot(hostname.replace(/^\[(.*)\]$/, "$1"));
  const domain = wanted.replace(/^\*?\./, "");
  if (domain === "") return false;
  return (name === domain && !wanted.startsWith("*")) || name.endsWith(`.${domain}`);
};

/**
 * The proxy of the environment for an address, as curl and undici choose it: `HTTPS_PROXY`, unless
 * `NO_PROXY` exempts the host. `HTTP_PROXY` is for http://, which leads to this machine here, as no
 * proxy does.
 */
const environmentProxy = (
  url: URL,
  environment: Environment,
): { readonly variable: string; readonly address: string } | undefined => {
  if (url.protocol !== "https:" || isThisMachine(url.hostname)) return undefined;
  const noProxy = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const entries = noProxy.split(/[,\s]+/).filter((entry) => entry !== "");
  if (entries.some((entry) => isExempt(url, entry))) return undefined;
  const variable = environment["https_proxy"] === undefined ? "HTTPS_PROXY" : "https_proxy";
  const address = environment[variable]?.trim() ?? "";
  return address === "" ? undefined : { variable, address };
};

/** What `PAYMENTS_PROXY` takes for no proxy. */
const NO_PROXY = /^(?:none|false)$/i;

const TAKES = "must be the address of an HTTP proxy, such as http://proxy.example:3128";

/** Whether it is percent-encoded as a part of a URL is. */
const isEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** The checked address of a proxy, or what is wrong with it; never the address, which may have a password. */
const checkProxy = (address: string): Result.Result<Redacted.Redacted, string> => {
  // As curl takes it.
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(full)) return Result.fail(`${TAKES}.`);
  const { hash, password, pathname, protocol, search, username } = new URL(full);
  if (protocol !== "http:" && protocol !== "https:") {
    return Result.fail(`${TAKES}: ${protocol.slice(0, -1)} is not spoken.`);
  }
  if (!isEncoded(username) || !isEncoded(password)) {
    return Result.fail(`${TAKES}, with user and password percent-encoded.`);
  }
  return pathname === "/" && search === "" && hash === ""
    ? Result.succeed(Redacted.make(full))
    : Result.fail(`${TAKES}, without a path.`);
};

/**
 * Choose the proxy of a client.
 *
 * @param setting what the caller says: an address, or `false` or "none" for none; undefined leaves it to the environment
 * @param baseUrl the service's address, which is right
 * @returns its address, or `false` for none; fails with what is wrong, by name
 */
export const chooseProxy = (
  setting: unknown,
  baseUrl: string,
  environment: Environment,
): Result.Result<Redacted.Redacted | false, string> => {
  if (setting === false) return Result.succeed(false);
  const url = new URL(baseUrl);
  if (setting === undefined) {
    const named = environmentProxy(url, environment);
    return named === undefined
      ? Result.succeed(false)
      : Result.mapError(
          checkProxy(named.address),
          (problem) => `${named.variable} ${problem} PAYMENTS_PROXY (proxy) overrules it.`,
        );
  }
  const given = Redacted.isRedacted(setting) ? Redacted.value(setting) : setting;
  if (typeof given === "string" && NO_PROXY.test(given.trim())) return Result.succeed(false);
  const fault = (problem: string) => `PAYMENTS_PROXY (proxy) ${problem}`;
  if (typeof given !== "string") return Result.fail(fault(`${TAKES}, or false for none.`));
  if (url.protocol !== "https:") {
    return Result.fail(fault("is for https:// only: http:// leads to this machine."));
  }
  return Result.mapError(checkProxy(given.trim()), fault);
};
