import { expect } from "vitest";
import type { Fault, OperationName } from "../../src/effect.ts";
import { checkInput } from "../../src/contract.ts";
import { requests } from "./requests.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The faults of an operation's right request with some fields changed; undefined leaves one out. */
export const faultsOf = (name: OperationName, changes: Fields): ReadonlyArray<Fault> =>
  checkInput(name, { ...requests[name], ...changes });

/** Expects the right request with these changes to be right still. */
export const expectRight = (name: OperationName, changes: Fields = {}): void =>
  expect(faultsOf(name, changes)).toStrictEqual([]);

/** Expects exactly this one fault. */
export const expectFault = (
  name: OperationName,
  changes: Fields,
  field: string,
  problem: string,
): void => expect(faultsOf(name, changes)).toStrictEqual([{ field, problem }]);
