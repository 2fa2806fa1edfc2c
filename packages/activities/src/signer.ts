import { currentApiKey } from "@durable-payments/api-core";
import { accountHash } from "@durable-payments/protocol/account";
import { createHmac, timingSafeEqual } from "node:crypto";
import { Redacted } from "effect";
import { optionsOf, type PaymentsRuntime } from "./run-operation.ts";
import type { SigningSecrets } from "./signing-secrets.ts";

/** Plain data; the first says what is signed, so that no signature is taken for one of another kind. */
export type Signed = readonly [kind: string, ...rest: ReadonlyArray<unknown>];

const sign = (key: string | Uint8Array, values: ReadonlyArray<unknown>): string =>
  createHmac("sha256", key).update(JSON.stringify(values)).digest("base64url");

/** Compare two signatures in a time that says nothing of where they differ. */
const isSame = (given: string, wanted: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
};

/**
 * Signs values by HMAC-SHA256 with the secret of the deployment, or with the API key where it has none. Every worker that
 * has the secret makes the same signature. Without it nobody can make one, nor guess what was signed: from a plain hash, an
 * account number with few unknown digits could be.
 */
export class Signer {
  readonly #runtime: PaymentsRuntime;
  readonly #secrets: SigningSecrets | undefined;

  constructor(runtime: PaymentsRuntime, secrets?: SigningSecrets) {
    this.#runtime = runtime;
    this.#secrets = secrets;
  }

  /**
   * Sign values by each secret that counts: the first one signs from now on, the others have signed before, and the API
   * key has before there was a secret.
   *
   * @returns the signatures in base64url, that of the first secret first.
   */
  async signaturesOf(values: Signed): Promise<readonly [string, ...Array<string>]> {
    const options = await optionsOf(this.#runtime);
    const byApiKey = sign(Redacted.value(currentApiKey(options)), values);
    // One secret is for all accounts, and what is signed is of one.
    const ofAccount = [accountHash(options), ...values];
    const [first, ...others] = this.#secrets?.().map((secret) => sign(secret, ofAccount)) ?? [];
    return first === undefined ? [byApiKey] : [first, ...others, byApiKey];
  }

  /** Sign values by the secret that signs from now on. */
  async sign(values: Signed): Promise<string> {
    const [signature] = await this.signaturesOf(values);
    return signature;
  }

  /** Check whether a signature is one of these values, by a secret that counts. */
  async isSigned(signature: string, values: Signed): Promise<boolean> {
    return (await this.signaturesOf(values)).some((one) => isSame(signature, one));
  }
}
