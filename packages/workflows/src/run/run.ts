import {
  ACCOUNT_NAME_RULE,
  auditQuery,
  cardholderCheckedSignal,
  isAccountName,
  payoutEndedSignal,
  type Progress,
  progressQuery,
  type Resolution,
  resolveUpdate,
} from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { setHandler } from "@temporalio/workflow";
import { accountPin } from "./account-pin.ts";
import type { Compensation } from "./compensations.ts";
import { runFailure } from "./failures.ts";
import { RunState } from "./run-state.ts";

/** What a run is begun with. */
export interface RunOptions<Input = unknown> {
  /** What the workflow was started with: what a retry may amend. See {@link Run.input}. */
  readonly input?: Input;
  /**
   * What a refusal of the service leads to: the run fails (default), or a person is asked, who can
   * amend the request, and the run goes on from that step.
   */
  readonly onRefusal?: "fail" | "ask";
  /**
   * Name of the account that the run pays from, where the worker has several; default: the one without a name. It holds
   * for the whole run: no retry amends it.
   */
  readonly account?: string;
}

let stateOf: <Input>(run: Run<Input>) => RunState;

/**
 * One run of a workflow, as its author sees it. Every step takes it as its first argument. Make it
 * with {@link beginRun}, once, as the workflow's first act.
 */
export class Run<Input = unknown> {
  readonly #state: RunState;
  readonly #startedWith: Input;

  static {
    stateOf = (run) => run.#state;
  }

  constructor({ input, onRefusal = "fail" }: RunOptions<Input>) {
    // Where no input is given, Input is unknown.
    this.#startedWith = input as Input;
    this.#state = new RunState({ input, onRefusal });
  }

  /**
   * Read the input: as the run was started, or as it was amended since, when the run was retried. Read
   * it anew for each step, so that an amendment reaches the steps to come.
   */
  input(): Promise<Input> {
    return this.#state.input(this.#startedWith);
  }

  /**
   * Run the body of a workflow, and keep how it ended. It ends once every send that was begun has ended,
   * also one that the body did not wait for. When it fails or is cancelled, what was registered by {@link onFailure} is
   * undone, latest first.
   *
   * @throws EndedInDoubt where it is not known what became of something that was sent.
   * @throws CompensationIncomplete where something could not be undone.
   */
  execute<A>(body: () => Promise<A>): Promise<A> {
    return this.#state.execute(body);
  }

  /**
   * Run a step that you write yourself, and keep its times and outcome in the progress.
   *
   * @param name a second step of the same name is numbered.
   * @param note what is going on, for a person.
   * @param work gets the name under which the step is kept.
   */
  step<A>(name: string, note: string, work: (name: string) => Promise<A>): Promise<A> {
    return this.#state.step(name, note, work);
  }

  /** Register how a step is undone when the run fails or is cancelled. Call it before the step. */
  onFailure(compensation: Compensation): void {
    this.#state.onFailure(compensation);
  }

  /** Say what a step is waiting for, and until when at the longest: milliseconds since 1970. */
  waiting(step: string, note: string, until?: number): void {
    this.#state.waiting(step, note, until);
  }

  /** Show something in the progress to whom the run waits for; undefined takes it away. */
  show(what: Readonly<Record<string, unknown>>): void {
    this.#state.show(what);
  }

  /** Keep something that whoever reads the result should know. */
  note(text: string): void {
    this.#state.note(text);
  }

  /** Make ids findable, by the service's name of their field: in the progress, and by search attribute. */
  known(ids: Readonly<Record<string, string>>): void {
    this.#state.known(ids);
  }

  /** Whether a step has sent and it is not known what became of it. */
  isInDoubt(step: string): boolean {
    return this.#state.sends.isInDoubt(step);
  }

  /** What the run answers to the query `progress`. */
  get progress(): Progress {
    return this.#state.progress;
  }
}

export { stateOf };

/** Give the account of an input, where it names one, as {@link beginRun} takes it and an approver is shown it. */
export const accountOf = (input: { readonly account?: string }): Pick<RunOptions, "account"> => {
  // An input can be null, whatever its type says.
  const { account } = (input as typeof input | null) ?? {};
  return account === undefined ? {} : { account };
};

/** An input can hold anything: what is no name must not be taken for no name. */
const takeAccount = (account: unknown): void => {
  if (account === undefined) return;
  if (!isAccountName(account)) {
    throw runFailure(
      "InvalidRequest",
      `The input's account must be the name of an account: ${ACCOUNT_NAME_RULE}. Nothing was sent.`,
    );
  }
  accountPin().nameIs(account);
};

/**
 * Begin a run: keep its progress and audit trail, and handle its queries, updates and signals.
 *
 * @param options the input that the workflow was started with, and what a refusal leads to.
 * @returns the run, which every step takes as its first argument.
 * @throws InvalidRequest where `account` is no name of an account.
 * @example
 * ```ts
 * export function payTwo(input: PayTwoInput): Promise<void> {
 *   const run = beginRun({ input });
 *   return run.execute(async () => {
 *     const { first, second } = await run.input();
 *     await createPayout(run, first, "firstPayout");
 *     await createPayout(run, second, "secondPayout");
 *   });
 * }
 * ```
 */
export const beginRun = <Input>(options: RunOptions<Input> = {}): Run<Input> => {
  takeAccount(options.account);
  const run = new Run(options);
  const state = stateOf(run);
  setHandler(progressQuery, () => state.progress);
  setHandler(auditQuery, () => state.audit.entries);
  setHandler(payoutEndedSignal, (content) => state.onSignal(content));
  setHandler(cardholderCheckedSignal, (content) => state.onSignal(content));
  setHandler(resolveUpdate, (resolution: Resolution) => state.resolve(resolution), {
    validator: (resolution: Resolution) => {
      const fault = state.whyNot(resolution);
      if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, "InvalidResolution");
    },
  });
  return run;
};
