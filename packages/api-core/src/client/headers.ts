import { hideValues } from "./redact.ts";
import type { ResponseHeaders } from "./wire.ts";

/** Headers whose values open something: cookies, credentials, tokens, keys. */
const SECRET_NAME = /auth|cookie|credential|key|password|secret|session|signature|token/i;

const MASK = "[redacted]";

/** The values of a caller's headers that must not be repeated in a message. */
export const secretHeaderValues = (
  headers: Readonly<Record<string, string>>,
): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));

/**
 * The headers of a response for a caller, without secrets: by their names, and the known ones wherever
 * they stand. Several values of one header are separated by commas.
 */
export const maskedHeaders = (
  headers: ResponseHeaders,
  hidden: ReadonlyArray<string>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            [
              name,
              SECRET_NAME.test(name) ? MASK : hideValues([value].flat().join(", "), hidden),
            ] as const,
          ],
    ),
  );
