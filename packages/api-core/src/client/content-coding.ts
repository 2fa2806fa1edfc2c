import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType } from "node:zlib";
import { lookUp } from "../values.ts";

/** What the client asks for, as the header `accept-encoding` has it. */
export const ACCEPTED_CODINGS = "gzip, br, deflate";

type Decompress = (
  bytes: InputType,
  options: { readonly maxOutputLength: number },
) => Promise<Uint8Array>;

const DEFLATE_METHOD = 8;

const zlib: Decompress = promisify(inflate);
const raw: Decompress = promisify(inflateRaw);

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  br: promisify(brotliDecompress),
  // Some servers leave out the wrapping of zlib, whose first byte has the method.
  deflate: (bytes, options) =>
    bytes instanceof Uint8Array && ((bytes[0] ?? 0) & 15) === DEFLATE_METHOD
      ? zlib(bytes, options)
      : raw(bytes, options),
};

/** Whether the bytes of a body are coded: whether {@link decodeBody} is needed. */
export const isCoded = (coding: string): boolean => !/^\s*(identity\s*)?$/i.test(coding);

/**
 * Decode the bytes of a body.
 *
 * @param coding The header `content-encoding`.
 * @param most Most bytes of the result.
 * @throws Error with a message that says what is wrong, for a person.
 */
export const decodeBody = async (
  bytes: Uint8Array,
  coding: string,
  most: number,
): Promise<Uint8Array> => {
  if (bytes.length === 0) return bytes;
  const name = coding.trim().toLowerCase();
  const decompress = lookUp(decompressors, name);
  if (decompress === undefined) throw new Error("its answer is in a coding that was not asked for");
  try {
    return await decompress(bytes, { maxOutputLength: most });
  } catch (error) {
    const isTooLong =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw new Error(isTooLong ? "its answer is too long" : `its answer is no whole ${name}`, {
      cause: error,
    });
  }
};
