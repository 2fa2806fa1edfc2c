/** A guard that is taken out of the product's code, and what turns red without it. */
export interface Mutation {
  readonly name: string;
  /** What the code does without it. */
  readonly what: string;
  readonly edits: ReadonlyArray<{
    /** Folder of the project whose sources have the guard. */
    readonly project: string;
    /** Text of the guard, exactly once in these sources. */
    readonly find: string;
    readonly put: string;
  }>;
  /** Options of a chaos run that must turn red. */
  readonly chaos?: readonly string[];
  /** Arguments of vitest for tests that must turn red. */
  readonly tests?: readonly string[];
}
