import type { ReadReset } from "@durable-payments/activities";
import type {
  EndingDecision,
  Replacement,
  RetryInstruction,
  SentBefore,
} from "@durable-payments/protocol";
import { patched, workflowInfo } from "@temporalio/workflow";
import { accountPin } from "./account-pin.ts";
import { localActivities } from "./activities.ts";
import { runFailure } from "./failures.ts";

/** The failure of a run that is not to go on with what its input was amended to. */
export const AMENDMENT_REFUSED = "AmendmentRefused";

const NOTHING: SentBefore = { outcome: "nothing", amendments: 0 };

/**
 * What a run that was reset knows of the runs before it. Their steps are in its history up to the
 * reset; what they did after that is in the instruction of who had it reset, or nowhere.
 */
export class ResetContext {
  #read: ReadReset | undefined;
  #isInputRead = false;
  #asked = 0;

  /**
   * Whether this is the first step that is not in the history of a run that was reset, or of a child that its parent
   * may have started before, so that its instruction is to be read now. Mostly it is not, and a step that asks awaits nothing: the SDK takes
   * the stack of every promise of a workflow, and a replay has to go in the very same steps.
   */
  mustRead(): boolean {
    const { firstExecutionRunId, parent, runId, unsafe } = workflowInfo();
    if (this.#read?.runId === runId) return false;
    // A replay of a history alone takes every run for the first: there the markers decide.
    const isFirst = runId === firstExecutionRunId && parent === undefined;
    if (isFirst && !unsafe.isReplaying) return false;
    this.#asked += 1;
    // A step that is in the history has not asked; one of a run reset since has asked for that run.
    return patched(`reset, asked ${this.#asked}`);
  }

  /**
   * Read the instruction: before anything is done again, so that an amendment cannot come too late.
   *
   * @returns the instruction, unless the run was reset by another means since.
   */
  async read(): Promise<RetryInstruction | undefined> {
    const { parent } = workflowInfo();
    this.#read =
      parent === undefined
        ? await localActivities.readRetryInstruction()
        : await localActivities.readRetryInstruction({
            workflowId: parent.workflowId,
            runId: parent.runId,
          });
    const { account, isOutdated, instruction } = this.#read;
    // What the runs before may have sent is in the lists of their account, and no other.
    if (account !== undefined) accountPin().know(account);
    return isOutdated || instruction === null ? undefined : instruction;
  }

  /**
   * Expect that the run may go on: not with an amendment that its worker has refused, and not past the decision of
   * a person that ended the child before that its parent has started again.
   *
   * @throws AmendmentRefused, which names every fault.
   * @throws Abandoned or Rejected, as the run before.
   */
  expectAccepted(): void {
    const { refused = [], standing } = this.#read ?? {};
    if (standing !== undefined) {
      const { at, by, what, why } = standing;
      throw runFailure(
        what === "abandoned" ? "Abandoned" : "Rejected",
        `An earlier run of this child workflow was ${what} by ${by} on ${at} (${why}). What a person has ended stays ended: its parent goes past it where somebody retries the parent and overrules that.`,
        { by, why },
      );
    }
    if (refused.length === 0) return;
    const faults = refused.map(({ field, problem }) => `${field || "input"} ${problem}`).join("; ");
    throw runFailure(
      AMENDMENT_REFUSED,
      `The amendment is wrong: ${faults}. Nothing was sent, and nothing undone: retry the run with another amendment, or without one.`,
      { faults: refused },
    );
  }

  /**
   * Expect that the workflow has read its input since it was amended, before it sends anything: it would send what
   * was to be amended. Workflows of this project read it before each step.
   *
   * @throws AmendmentRefused
   */
  expectInputRead(step: string): void {
    const { instruction } = this.#read ?? {};
    if (instruction?.fixed === undefined || this.#isInputRead) return;
    throw runFailure(
      AMENDMENT_REFUSED,
      `The workflow was about to send ${step} without having read its amended input: it has to call run.input() anew before each step. Nothing was sent, and nothing undone.`,
      {},
    );
  }

  /** The input as it was amended, or as the run was started with. */
  input<Input>(given: Input): Input {
    if (this.#read !== undefined) this.#isInputRead = true;
    // Who amends an input checks it as that of a run is checked, and requests are checked again.
    return (this.#read?.instruction?.input as Input | undefined) ?? given;
  }

  /** Whether it has asked for the runs before it; mostly the activity that sends does. */
  get knowsEarlierRuns(): boolean {
    return this.#read !== undefined;
  }

  /** Whether runs may have come before of which this one is no reset: what they have sent is not what it sends. */
  get hasEarlierRuns(): boolean {
    return this.#read?.hasEarlierRuns === true;
  }

  /** Whether the input was amended. */
  get isAmended(): boolean {
    return this.#read?.instruction?.input !== undefined;
  }

  /** Whether what an amended input sends is approved anew. */
  get approvesAnew(): boolean {
    return this.isAmended && this.#read?.approvesAnew === true;
  }

  /** Who amended the input; an empty name where it was amended, and the instruction names nobody. */
  get amendedBy(): ReadonlyArray<string> {
    const named = this.#read?.instruction?.amendedBy ?? [];
    return this.isAmended && named.length === 0 ? [""] : named;
  }

  /** Who had the run retried. */
  get by(): string | undefined {
    return this.#read?.instruction?.by;
  }

  /** Decisions of people that ended runs before, each overruled by somebody. */
  get decisions(): ReadonlyArray<EndingDecision> {
    return this.#read?.instruction?.decisions ?? [];
  }

  /**
   * Whether the run goes by a change of the code: by the answer that said why it was reset, or else by its marker.
   *
   * @param change the id for `patched`.
   */
  goesBy(change: string): boolean {
    return this.#read?.goesByChanges ?? patched(change);
  }

  /** What became of what a step sent in the runs before; undefined where there were none. */
  sent(step: string): SentBefore | undefined {
    if (this.#read === undefined) return undefined;
    const { isOutdated, instruction, notCarriedOut = [] } = this.#read;
    const before = instruction?.sent[step] ?? NOTHING;
    if (!isOutdated || before.outcome === "known") return before;
    if (notCarriedOut.includes(step)) return NOTHING;
    const { amendments, gone } = before;
    return { outcome: "unknown", amendments, ...(gone && { gone }) };
  }

  /** What is replaced by what a step makes now. */
  replaced(step: string): ReadonlyArray<Replacement> {
    return (this.#read?.instruction?.replaced ?? []).filter((replaced) => replaced.step === step);
  }
}
