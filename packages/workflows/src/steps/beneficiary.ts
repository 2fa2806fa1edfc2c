import { contradictedField, unprovedField } from "@durable-payments/activities/match-rows";
import type { CreateBeneficiaryInput } from "@durable-payments/api-core";
import { STEP, intentOf } from "@durable-payments/protocol";
import { patched, workflowInfo } from "@temporalio/workflow";
import { activities } from "../run/activities.ts";
import { readSendFailure, runFailure } from "../run/failures.ts";
import { expectReadable, object } from "../run/input-faults.ts";
import { type Run, stateOf } from "../run/run.ts";
import { sendAndReconcile } from "./send.ts";

/** Histories of before have beneficiaries of people that were not read before they were taken. */
const GIVEN_BENEFICIARIES = "a beneficiary that a person gives is read before it is taken";

/** Before, only what was legibly another number or currency was refused. */
const WHOLE_ACCOUNTS = "a beneficiary that a person gives is shown as it was sent";

/**
 * Expect that a beneficiary is there, and that whom it pays, and where, is shown as it was sent.
 *
 * @throws OtherBeneficiary where it is another, or it cannot be seen that it is not.
 */
const expectAccountOf = async (
  request: CreateBeneficiaryInput,
  beneficiary_id: string,
): Promise<void> => {
  const found = await activities.retrieveBeneficiary({ beneficiary_id });
  const contradicted = contradictedField(request, found);
  if (contradicted !== undefined) {
    throw runFailure(
      "OtherBeneficiary",
      `${beneficiary_id} has another ${contradicted} than was sent.`,
    );
  }
  const unproved = patched(WHOLE_ACCOUNTS) ? unprovedField(request, found) : undefined;
  if (unproved !== undefined) {
    throw runFailure(
      "OtherBeneficiary",
      `${beneficiary_id} is not shown with the ${unproved} that was sent.`,
    );
  }
};

/** What to do about a beneficiary whose answer was lost. */
export interface CreateBeneficiaryOptions {
  /**
   * `recreate` (default): create it again; the service has no list to find it by, and a second
   * beneficiary moves no money. `ask`: a person decides.
   */
  readonly whenLost?: "recreate" | "ask";
  /** Name of the step, when a run creates several beneficiaries. */
  readonly step?: string;
}

/**
 * Create a beneficiary.
 *
 * @param beneficiary the request, in the service's field names.
 * @returns its `beneficiary_id`. Where an answer was lost and it was created again, the run's notes
 *   say so.
 * @throws Refused where the service says no, unless the run asks a person then.
 * @throws Abandoned where a person ends the run.
 * @example
 * ```ts
 * const beneficiary_id = await createBeneficiary(run, beneficiary, { whenLost: "ask" });
 * ```
 */
export const createBeneficiary = (
  run: Run,
  beneficiary: CreateBeneficiaryInput,
  { step = STEP.createBeneficiary, whenLost = "recreate" }: CreateBeneficiaryOptions = {},
): Promise<string> =>
  run.step(step, "creating the beneficiary", async () => {
    expectReadable(beneficiary, step, object());
    let lostAnswers = 0;
    const { beneficiary_id } = await sendAndReconcile<
      CreateBeneficiaryInput,
      { readonly beneficiary_id: string }
    >(run, {
      step,
      operation: "createBeneficiary",
      request: beneficiary,
      // No list shows it, so that no other run compares its mark: it is made of no name, which could be guessed.
      intent: () => intentOf("createBeneficiary", [workflowInfo().workflowId, step]),
      isKeyed: false,
      send: async (request, intent) => {
        try {
          return await activities.createBeneficiary.executeWithOptions(
            { summary: "Create the beneficiary" },
            [request, intent],
          );
        } catch (error) {
          if (readSendFailure(error)._tag === "Unknown") lostAnswers += 1;
          throw error;
        }
      },
      whenLost: whenLost === "ask" ? "ask" : "resend",
      shown: ({ bank_country, nickname }) => ({ nickname, bank_country }),
      idsWanted: ["beneficiary_id"],
      fromIds: async ({ beneficiary_id = "" }, request, _, givenBy) => {
        if (givenBy !== undefined && stateOf(run).goesBy(GIVEN_BENEFICIARIES)) {
          await expectAccountOf(request, beneficiary_id);
        }
        return { beneficiary_id };
      },
      ids: (created) => ({ beneficiary_id: created.beneficiary_id }),
    });
    if (lostAnswers > 0) {
      run.note(
        `${step}: ${lostAnswers} of its answers lost: the service may list this beneficiary more than once; the payout goes to one of them`,
      );
    }
    return beneficiary_id;
  });
