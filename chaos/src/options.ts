import { type Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { randomInt } from "node:crypto";

export const DESCRIPTION = `Starts onboardings and payouts of two accounts on a Temporal server with a database file, a payment
  service for each account, and two workers with a ledger. Meanwhile it loses, delays and garbles answers, kills and freezes
  processes, cancels, terminates, resets and retries runs, and answers their questions. At the end it compares the records of
  the service with the results of the runs and with the ledger. chaos/README.md describes the code.

  Exit codes: 0 nothing was duplicated, lost, wrong, stuck, unapproved or misreported, and nothing crashed; 1 otherwise; 2 invalid
  options; 130 interrupted.`;

const number = (name: string, description: string, [from, to]: readonly [number, number]) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (given) => given >= from && given <= to,
      () => `a whole number from ${from} to ${to}`,
    ),
    Flag.withDescription(description),
  );

/** The options of the command: the settings of one campaign. */
export const chaosOptions = {
  runs: number("runs", "Runs to start (200)", [2, 2_000]).pipe(Flag.withDefault(200)),
  /** Everything random follows from it. */
  seed: number("seed", "Seed of everything random; by default chosen and printed", [
    0,
    2 ** 32 - 1,
  ]).pipe(Flag.optional, Flag.map(Option.getOrElse(() => randomInt(1_000_000)))),
  minutes: number("minutes", "Minutes after which an open run counts as stuck (6)", [1, 120]).pipe(
    Flag.withDefault(6),
  ),
  service: Flag.Literals("service", ["simulator", "independent"]).pipe(
    Flag.withDefault("simulator"),
    Flag.withDescription(
      "independent shares no code with the client, loses answers, lists late, often without keys, and has another clock",
    ),
  ),
  ledger: Flag.Literals("ledger", ["sqlite", "postgres"]).pipe(
    Flag.withDefault("sqlite"),
    Flag.withDescription(
      "postgres: its connections break, its commits are slow, its server restarts and fails over to a standby",
    ),
  ),
  restore: Flag.Literals("restore", ["temporal", "ledger", "both", "nothing", "no-temporal"]).pipe(
    Flag.optional,
    Flag.map(Option.getOrUndefined),
    Flag.withDescription(
      "temporal, ledger or both: restores earlier copies in the middle; nothing: deletes the ledger instead; no-temporal: deletes Temporal's database instead",
    ),
  ),
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Prints no progress on standard error"),
  ),
};

/** The settings of one campaign. */
export type ChaosOptions = Command.Command.Config.Infer<typeof chaosOptions>;
