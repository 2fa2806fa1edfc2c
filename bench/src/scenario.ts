import { BadOption } from "@durable-payments/tools/command";
import type { Row } from "./row.ts";

/** The surroundings of a scenario. */
export interface ScenarioContext {
  /** Fewer and shorter rounds: shows that it runs, its figures are rough. */
  readonly quick: boolean;
  /** Says how far it is, on standard error. */
  readonly progress: (text: string) => void;
  /** Aborted when somebody ends the bench. */
  readonly signal: AbortSignal;
  /** Has something ended after the scenario, the last one first. */
  readonly defer: (end: () => unknown) => void;
}

/** Measures one thing; each row is compared with a baseline that was measured in the same run. */
export type Scenario = (context: ScenarioContext) => Promise<ReadonlyArray<Row>>;

/** A scenario in the list, loaded when it is run. */
export interface ScenarioEntry {
  /** As `--only` takes it. */
  readonly name: string;
  /** Describes the measurement in a few words. */
  readonly about: string;
  readonly load: () => Promise<{ readonly scenario: Scenario }>;
}

/** Measures one contender once. */
export type Measure<Reading> = (round: number) => Promise<Reading>;

/**
 * Measures every contender once a round, each round beginning with another one, so that what
 * changes on the machine meanwhile strikes them all alike. One after the other, never at once.
 */
export const interleave = async <Name extends string, Reading>(
  contenders: Readonly<Record<Name, Measure<Reading>>>,
  rounds: number,
  { progress, signal }: Pick<ScenarioContext, "progress" | "signal">,
): Promise<Record<Name, ReadonlyArray<Reading>>> => {
  const names: Array<Name> = [];
  // Filled with a list for each name at once.
  const readings = {} as Record<Name, Array<Reading>>;
  for (const name in contenders) {
    names.push(name);
    readings[name] = [];
  }
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`);
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      signal.throwIfAborted();
      readings[name].push(await contenders[name](round));
    }
  }
  return readings;
};

/** All scenarios, in the order in which they run. */
export const scenarios: ReadonlyArray<ScenarioEntry> = [
  {
    name: "client",
    about: "import, CPU and requests a second of the client, against undici and stripe",
    load: () => import("./scenarios/client.ts"),
  },
  {
    name: "throughput",
    about: "runs a second, worker's CPU, replay and bundles, against the bare Temporal SDK",
    load: () => import("./scenarios/throughput.ts"),
  },
];

/**
 * The scenarios that `--only` names; all of them where it names none.
 *
 * @throws BadOption for a name that there is not
 */
export const chosen = (
  scenarios: ReadonlyArray<ScenarioEntry>,
  only: ReadonlyArray<string> = [],
): ReadonlyArray<ScenarioEntry> => {
  const unknown = only.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    throw new BadOption(
      `--only must be one of ${scenarios.map(({ name }) => name).join(", ")}; got "${unknown}".`,
    );
  }
  return only.length === 0 ? scenarios : scenarios.filter(({ name }) => only.includes(name));
};
