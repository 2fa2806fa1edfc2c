import { msToNumber } from "@temporalio/common/lib/time.js";
import { Argument, Flag } from "effect/cli";
import * as Option from "effect/Option";

// Flags are checked as they are read, so that faults are reported before anything connects.

/** A switch, off by default. */
export const on = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false));

/** One JSON object on standard output, everything else on standard error. */
export const json = on("json", "Print one JSON object, for programs");

/** An optional flag. */
export const orUndefined = <A>(flag: Flag.Flag<A>) =>
  flag.pipe(Flag.optional, Flag.map(Option.getOrUndefined));

const named = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description));

/** An optional text. */
export const text = (name: string, metavar: string, description: string) =>
  orUndefined(named(name, metavar, description));

/** A day, or a time, as ISO 8601 or this command writes it. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** Reads a time. Without a zone it is in UTC, as all times that are shown, and not in the zone of this machine. */
const timeIn = (given: string): number => {
  const [, day = "", clock = "00:00", zone = "Z"] = TIME.exec(given) ?? [];
  // JavaScript reads February 30 as March 2.
  const isDay = new Date(day).toISOString().startsWith(day);
  return isDay ? Date.parse(`${day}T${clock}${zone}`) : Number.NaN;
};

/** Reads a length of time. A number alone would be in milliseconds, which nobody means. */
const lengthIn = (given: string): number => {
  if (/\d\s*$/.test(given)) throw new TypeError("without a unit");
  // The library knows its accepted texts only by type.
  return msToNumber(given as Parameters<typeof msToNumber>[0]);
};

/** An age (`7d`, `12 hours`), or an ISO 8601 date or time, in the past. */
const pastTime = (given: string): Option.Option<Date> =>
  Option.liftThrowable(() =>
    /^\d{4}-/.test(given) ? timeIn(given) : Date.now() - lengthIn(given),
  )().pipe(
    Option.filter((at) => at <= Date.now()),
    Option.map((at) => new Date(at)),
  );

/** A time in the past. */
export const past = (name: string, metavar: string, description: string) =>
  named(name, metavar, description).pipe(
    Flag.filterMap(pastTime, () => "an age such as 7d or 12h, or a past date such as 2026-11-01"),
  );

/** An optional time in the past. */
export const time = (name: string, metavar: string, description: string) =>
  orUndefined(past(name, metavar, description));

/** The longest timer of Node, in milliseconds: a longer one would end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Reads how long a timer runs. */
const timerIn = (given: string): Option.Option<number> =>
  Option.liftThrowable(() => lengthIn(given))().pipe(
    Option.filter((length) => length > 0 && length <= LONGEST_MS),
  );

/** An optional length of time, in milliseconds. */
export const duration = (name: string, description: string) =>
  orUndefined(
    named(name, "TIME", description).pipe(
      Flag.filterMap(timerIn, () => "a time such as 30s or 5m, of at most 24 days"),
    ),
  );

/** A whole number from 1. */
export const count = (name: string, description: string, fallback: number) =>
  named(name, "N", description).pipe(
    Flag.filterMap(
      (given) => (/^[1-9]\d{0,14}$/.test(given) ? Option.some(Number(given)) : Option.none()),
      () => "a whole number from 1",
    ),
    Flag.withDefault(fallback),
  );

/** The formats of a list. */
export const listed = {
  json,
  jsonl: on("jsonl", "Print one JSON object for each item, each on a line"),
  csv: on("csv", "Print CSV, for a spreadsheet"),
  noPager: on("no-pager", "Print long output at once, without a pager (PAGER)"),
};

/** An optional argument. */
export const maybeId = (description: string) =>
  Argument.String("ID").pipe(
    Argument.withDescription(description),
    Argument.optional,
    Argument.map(Option.getOrUndefined),
  );

/** The workflow id of a run, or the id of a batch. */
export const id = Argument.String("ID").pipe(
  Argument.withDescription("Workflow id of a run, or id of a batch"),
);

/** A file that is read or written. */
export const file = (description: string) =>
  Argument.String("FILE").pipe(Argument.withDescription(description));

/** The person who acts. */
export const by = text("by", "NAME", "Your name; default: PAYMENTS_PERSON");

/** The reason. */
const reason = text("reason", "WHY", "Reason (recorded)");

/** Does not ask. */
export const yes = on("yes", "Do not ask for confirmation");

/** The flags of a command that acts in a person's name. */
export const person = { by, reason, json };

/** The flags of a command that also asks for a confirmation. */
export const confirmed = { by, reason, yes, json };
