import { faultsOf, faultsText } from "@durable-payments/api-core";
import { Duration, Option, Result, Schema } from "effect";
import { FaultOrder } from "./faults/fault.ts";
import { Temperament } from "./temperament/temperament.ts";

const isNumber = (text: string) => /^\d+(\.\d+)?$/.test(text);

/** A time as a person writes it: a number of seconds, a number with its unit, or `never`. */
export const parseDuration = (text: string): Duration.Duration => {
  if (isNumber(text)) return Duration.seconds(Number(text));
  const duration = text === "never" ? Option.some(Duration.infinity) : readDuration(text);
  if (Option.isSome(duration) && !Duration.isNegative(duration.value)) return duration.value;
  throw new Error('seconds, a number with its unit such as "20 days", or never');
};

const readDuration = (text: string): Option.Option<Duration.Duration> =>
  // `fromInput` takes any text and says which ones are durations.
  Duration.fromInput(text as Duration.Input);

const decodeFault = Schema.decodeUnknownResult(FaultOrder, {
  errors: "all",
  onExcessProperty: "error",
});
const EXAMPLE = "dropped,operation=createPayout,times=3";

const decodeTemperament = Schema.decodeUnknownResult(Schema.fromJsonString(Temperament), {
  errors: "all",
  onExcessProperty: "error",
});

/** A temperament as it is given at start-up: a JSON object. */
export const parseTemperament = (text: string): Temperament =>
  Result.getOrThrowWith(
    decodeTemperament(text),
    ({ issue }) =>
      new Error(
        `a JSON object such as {"listLagMs":3000,"amounts":"grouped"}; ${faultsText(faultsOf(issue))}`,
      ),
  );

/** A fault as it is given at start-up: `dropped,operation=createPayout,times=3`. */
export const parseFault = (text: string): FaultOrder => {
  const [kind, ...settings] = text.split(",");
  const fields = settings.map((setting): [string, string | number] => {
    const [name, value] = setting.split("=", 2);
    if (name === undefined || value === undefined) {
      throw new Error(`a fault such as ${EXAMPLE}; "${setting}" is not name=value`);
    }
    return [name, isNumber(value) ? Number(value) : value];
  });
  return Result.getOrThrowWith(
    decodeFault({ ...Object.fromEntries(fields), kind }),
    ({ issue }) => new Error(`a fault such as ${EXAMPLE}; ${faultsText(faultsOf(issue))}`),
  );
};
