import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { InvalidSettings } from "../client/errors.ts";
import { isRecord } from "../values.ts";
import { type Assumptions, AssumptionsSchema } from "./assumptions.ts";
import { defaultAssumptions } from "./default-assumptions.ts";
import { faultsText } from "./faults.ts";
import { faultsOf, STRICT } from "./rules.ts";

/**
 * Merges assumptions into the defaults.
 *
 * @param overrides an object of the settings that differ, from JSON for example
 * @returns all assumptions; fails with `InvalidSettings` for an unknown name or a wrong value
 * @example
 * const assumptions = makeAssumptions({ timeZone: "Asia/Singapore", listLagSeconds: 60 });
 */
export const makeAssumptions = (
  overrides: unknown,
): Result.Result<Assumptions, InvalidSettings> => {
  const fault = (text: string) => Result.fail(new InvalidSettings({ message: text }));
  if (!isRecord(overrides)) return fault("The assumptions must be a JSON object of settings.");
  const defaults: Readonly<Record<string, unknown>> = { ...defaultAssumptions };
  const merged = Object.fromEntries(
    Object.entries({ ...defaults, ...overrides }).map(([name, value]) => {
      const byDefault = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
      return [name, isRecord(byDefault) && isRecord(value) ? { ...byDefault, ...value } : value];
    }),
  );
  const decoded = Schema.decodeUnknownResult(AssumptionsSchema, STRICT)(merged);
  return Result.isSuccess(decoded)
    ? Result.succeed(decoded.success)
    : fault(`The assumptions are invalid: ${faultsText(faultsOf(decoded.failure.issue))}`);
};
