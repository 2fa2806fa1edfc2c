import * as Exit from "effect/Exit";
import * as Schema from "effect/Schema";
import { dataOf, SUCCESS_CODE } from "../contract/envelope.ts";
import { answerDecoder, UNREADABLE } from "../contract/lenient-decoder.ts";
import type { Operation } from "./operations.ts";

/** A decoded answer, and the wire names of fields that could not be read and are absent in it. */
interface Decoded {
  readonly value: unknown;
  readonly ignored: ReadonlyArray<string>;
}

type Decode = (json: unknown) => Decoded | undefined;

const decoders = new WeakMap<Operation, Decode>();

const makeDecoder = ({ enveloped, success }: Operation): Decode => {
  const lenient = answerDecoder(success);
  if (lenient !== undefined) {
    return (json) => {
      const ignored = new Set<string>();
      const value = lenient(json, ignored);
      return value === UNREADABLE ? undefined : { value, ignored: [...ignored] };
    };
  }
  // The contract's answer schemas need no services.
  const decode = Schema.decodeUnknownExit(success as Schema.Codec<unknown, unknown>);
  return (json) => {
    const exit = decode(
      // The code has been read: neither its form nor the message may spoil good data.
      enveloped ? { code: SUCCESS_CODE, message: "Success", data: dataOf(json) } : json,
    );
    return Exit.isSuccess(exit) ? { value: exit.value, ignored: [] } : undefined;
  };
};

/** Decode the answer of a success; undefined where it is not of the documented form. */
export const decodeAnswer = (operation: Operation, json: unknown): Decoded | undefined => {
  let decoder = decoders.get(operation);
  if (decoder === undefined) {
    decoder = makeDecoder(operation);
    decoders.set(operation, decoder);
  }
  return decoder(json);
};
