/**
 * The keys cannot be read: a folder that is missing, a file that is no key, a service that does not answer.
 * What needs them is tried again by Temporal; no run fails by it.
 */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** A payload was encrypted under a key that is not there any more, or not yet. Put the key back, and it is read. */
export class MissingKey extends Error {
  override readonly name = "MissingKey";
  /** Id of the key that is missing. */
  readonly keyId: string;

  constructor(keyId: string, where: string) {
    super(
      `The key ${keyId} is missing in ${where}: put it back, a key may only be removed when nothing is stored under it any more`,
    );
    this.keyId = keyId;
  }
}

/**
 * A payload cannot be decrypted with the key that it names: it was changed, cut, written for another namespace, or
 * under another key of the same id.
 */
export class UndecryptablePayload extends Error {
  override readonly name = "UndecryptablePayload";
}

/** The settings by which payloads are encoded are wrong. */
export class InvalidDataConverter extends Error {
  override readonly name = "InvalidDataConverter";
}

/** The codec server cannot start with its settings; the message says why. */
export class CannotServe extends Error {
  override readonly name = "CannotServe";
}
