import type { Row } from "./row.ts";

/** What a scenario is given. */
export interface ScenarioContext {
  /** Fewer and shorter rounds: shows that it runs, its figures are rough. */
  readonly quick: boolean;
  /** Says how far it is, on standard error. */
  readonly progress: (text: string) => void;
  /** Aborted when somebody ends the bench. */
  readonly signal: AbortSignal;
  /** PostgreSQL has to be measured, and is installed where it is missing. */
  readonly needsPostgres: boolean;
  /** Has something ended after the scenario, the last one first. */
  readonly defer: (end: () => unknown) => void;
}

/** Measures one thing; each row is compared with a baseline that was measured beside it. */
export type Scenario = (context: ScenarioContext) => Promise<ReadonlyArray<Row>>;

/** A scenario in the list, loaded when it is run. */
export interface ScenarioEntry {
  /** As `--only` takes it. */
  readonly name: string;
  /** What it measures, in a few words. */
  readonly about: string;
  readonly load: () => Promise<{ readonly scenario: Scenario }>;
}
