import { readFiles, rereadFiles } from "@durable-payments/api-core/credentials";

/** Gives the secrets of a deployment as they are now; the first one signs, and what the others have signed counts. */
export type SigningSecrets = () => ReadonlyArray<Uint8Array>;

/** As many as HMAC-SHA256 gives. */
const LEAST_BYTES = 32;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const secretsIn = (name: string, content: string): ReadonlyArray<Uint8Array> => {
  const lines = content.split("\n").flatMap((line) => line.trim() || []);
  const secrets = lines.map((line) => Buffer.from(line, "base64"));
  const isSound =
    lines.every((line) => BASE64.test(line)) &&
    secrets.every((secret) => secret.length >= LEAST_BYTES);
  if (secrets.length > 0 && isSound) return secrets;
  throw new Error(
    `${name} must name a file with a secret on each line, and nothing else: at least ${LEAST_BYTES} random bytes in Base64 (openssl rand -base64 ${LEAST_BYTES}).`,
  );
};

/**
 * Read the secrets by which workers sign approvals, and read them again when they are used, at most once a second.
 *
 * @param name of the setting that names the file.
 * @param path of the file: a secret of at least 32 bytes in Base64 on each line. The first one signs; what the others have
 *   signed counts, too.
 * @param warn gets, once for each time that it happens, why what the file holds now is not used.
 * @returns the secrets as they are now.
 * @throws Error that names the setting where the file cannot be read, or a line of it is no such secret.
 */
export const readSigningSecrets = (
  name: string,
  path: string,
  warn: (message: string) => void,
): SigningSecrets => {
  const paths = { [name]: path };
  return rereadFiles({
    paths,
    contents: readFiles(paths),
    parse: (contents) => secretsIn(name, contents[name] ?? ""),
    warn,
  });
};
