import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
/** NIST SP 800-38D, 5.2.1.1: 96 bits need no further derivation. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Length of a key, in bytes. */
export const KEY_BYTES = 32;

/**
 * Encrypts under a random nonce.
 *
 * @param bound is not stored, and must be the same to decrypt.
 * @returns nonce, ciphertext and tag.
 */
export const seal = (key: Uint8Array, plain: Uint8Array, bound: string): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

/**
 * Decrypts what {@link seal} made.
 *
 * @throws Error if one bit differs, or the key, or the bound text.
 */
export const open = (key: Uint8Array, sealed: Uint8Array, bound: string): Uint8Array => {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error("It is too short");
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
  return Buffer.concat([plain, decipher.final()]);
};
