import { operationNames } from "@durable-payments/api-core";
import { Schema } from "effect";

/** What can go wrong on demand, and what it does to a request. */
export const FAULTS = {
  "html-502": "a proxy's HTML page with status 502; not carried out",
  "html-502-after": "carried out, then that page",
  "rate-limited": "429 with Retry-After (seconds=1); not carried out",
  "refusal-in-200": "a refusal under HTTP 200; not carried out",
  truncated: "carried out; the answer ends in its half",
  stalled: "carried out; half an answer, then nothing",
  dropped: "carried out; hung up without an answer",
  "dropped-before": "hung up without an answer; not carried out",
  "token-expired": "every token is invalid from now on",
  slow: "carried out, answered later (milliseconds=1000)",
  "repeated-key-first": "a repeated key is answered with the first data",
  "repeated-key-empty": "a repeated key is answered without data",
  "repeated-key-refusal": "a repeated key is refused",
} as const;

/** What can go wrong on demand. */
export type FaultKind = keyof typeof FAULTS;

/** The names in {@link FAULTS}. */
// `Object.keys` forgets them.
export const FAULT_KINDS = Object.keys(FAULTS) as ReadonlyArray<FaultKind>;

/** An order for a fault. */
export const FaultOrder = Schema.Struct({
  kind: Schema.Literals(FAULT_KINDS),
  /** The operation to strike; by default any but signIn. */
  operation: Schema.optionalKey(Schema.Literals(["signIn", ...operationNames])),
  /**
   * How often it strikes. By default once; without end where it has a probability, or says how
   * repeated keys are answered.
   */
  times: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /** From 0 to 1: how likely it strikes a request. By default it strikes the next one. */
  probability: Schema.optionalKey(
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  ),
  /** `Retry-After` of rate-limited. */
  seconds: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  /** Delay of slow. */
  milliseconds: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
});

/** An order for a fault. */
export type FaultOrder = typeof FaultOrder.Type;

/** A fault that was ordered, and how often it struck. */
export const OrderedFault = Schema.Struct({ ...FaultOrder.fields, fired: Schema.Int });

/** A fault that was ordered, and how often it struck. */
export type OrderedFault = typeof OrderedFault.Type;
