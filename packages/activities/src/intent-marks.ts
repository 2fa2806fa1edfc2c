import { intentMark, KEYED_MARK, KEY_OF_MARK } from "@durable-payments/protocol";
import { createHmac } from "node:crypto";
import { type CardholderFields, intentOfCardholder } from "./match-rows.ts";
import type { SigningSecrets } from "./signing-secrets.ts";

/** Enough that no two marks are alike by chance, and no two secrets. */
const MARK_CHARACTERS = 22;
const KEY_CHARACTERS = 8;

const hashOf = (secret: Uint8Array, of: string, characters: number): string =>
  createHmac("sha256", secret).update(of).digest("base64url").slice(0, characters);

const keyOf = (secret: Uint8Array): string =>
  `${KEY_OF_MARK}${hashOf(secret, "the secret of marks", KEY_CHARACTERS)}`;

const keyedBy = (secret: Uint8Array, mark: string): string =>
  intentMark(hashOf(secret, `a mark: ${mark}`, MARK_CHARACTERS));

/**
 * Marks of whom runs are about to create, made with the secrets of the deployment: Temporal stores search attributes in
 * plain text, and the names of a plain mark can be found by trying names. A run that another worker has marked with a
 * secret that is not here counts as one that creates the same.
 */
export class IntentMarks {
  readonly #secrets: SigningSecrets;

  constructor(secrets: SigningSecrets = () => []) {
    this.#secrets = secrets;
  }

  /** Say what a run has in its PaymentIds in the place of a plain mark; undefined where there is no secret. */
  keyed(mark: string): ReadonlyArray<string> | undefined {
    const [first] = this.#secrets();
    return first && [KEYED_MARK, keyOf(first), keyedBy(first, mark)];
  }

  /** Say how runs of this deployment, and of before, have marked the same. */
  all(mark: string): ReadonlyArray<string> {
    return [mark, ...this.#secrets().map((secret) => keyedBy(secret, mark))];
  }

  /** Check whether the mark among PaymentIds was made with a secret that is here. */
  isOfKnownKey(paymentIds: ReadonlyArray<string>): boolean {
    return this.#secrets().some((secret) => paymentIds.includes(keyOf(secret)));
  }

  /** Say by their plain marks what a run has in its PaymentIds that creates these; undefined where it has those. */
  ofCardholders(
    cardholders: ReadonlyArray<CardholderFields>,
  ): Readonly<Record<string, ReadonlyArray<string>>> | undefined {
    const marks = cardholders.flatMap((cardholder) => {
      const mark = intentMark(intentOfCardholder(cardholder));
      const keyed = this.keyed(mark);
      return keyed === undefined ? [] : [[mark, keyed] as const];
    });
    return marks.length === 0 ? undefined : Object.fromEntries(marks);
  }
}
