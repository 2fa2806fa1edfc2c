import type { JsonObject } from "@durable-payments/ledger";

/** Only time helps: the next attempt goes on. `version`: the row's, where nothing can have been sent; 0 without one. */
export class NotYet extends Error {
  override readonly name = "NotYet";
  readonly delayMs: number;
  readonly version: number | undefined;
  constructor(message: string, delayMs: number, version?: number) {
    super(message);
    this.delayMs = delayMs;
    this.version = version;
  }
}

/** The step fails for good: its type is one of `failureTypes`, or `Cancelled`. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly type: string;
  readonly details: JsonObject;
  constructor(type: string, message: string, details: JsonObject) {
    super(message);
    this.type = type;
    this.details = details;
  }
}
