import { createHash } from "node:crypto";
import { badInput } from "../errors.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Temporal's limit. */
const LONGEST_ID = 1000;

const HASH_CHARACTERS = 32;

/**
 * A workflow id made from what a run is to do. How it is to wait (`options`) is left out, so that
 * the same payment with another patience is still the same payment.
 */
export const idOfContent = (
  prefix: string,
  { options: _, ...content }: { readonly options?: unknown },
): string => {
  const hash = createHash("sha256").update(canonicalJson(content)).digest("hex");
  return `${prefix}-${hash.slice(0, HASH_CHARACTERS)}`;
};

/** The id that a user gave, if Temporal can take it. */
export const checkId = (id: string): string => {
  if (id.trim() === "") throw badInput("--id must not be empty.");
  if (id.length > LONGEST_ID) throw badInput(`--id must have at most ${LONGEST_ID} characters.`);
  if (/\p{Cc}/u.test(id)) throw badInput("--id must have no control characters.");
  return id;
};
