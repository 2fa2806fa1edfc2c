import {
  onboardStartAttributes,
  payoutStartAttributes,
} from "@durable-payments/activities/start-attributes";
import { isRecord } from "@durable-payments/api-core/values";
import {
  type OnboardCardholderInput,
  type PayoutInput,
  searchAttributes,
  textAt,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowClientInterceptor, WorkflowOptions } from "@temporalio/client";

type Attributes = ReturnType<typeof payoutStartAttributes>;

/** Cards are in this currency only. */
const CARD_CURRENCY = "USD";

const isPayout = (input: unknown): input is PayoutInput =>
  isRecord(input) && isRecord(input["payout"]) && typeof input["payout"]["currency"] === "string";

const isNamed = (cardholder: unknown): boolean =>
  ["first_name", "last_name"].every((name) => textAt(cardholder, name) !== undefined);

const isOnboarding = (input: unknown): input is OnboardCardholderInput =>
  isRecord(input) &&
  isRecord(input["card"]) &&
  (input["cardholder"] === undefined || isNamed(input["cardholder"]));

/** Gives the hash of the account of a name, and by undefined of the one without a name, where it is known. */
export type AccountHashes = (name: string | undefined) => string | undefined;

const attributesOf = (
  workflowType: string,
  workflowId: string,
  input: unknown,
  hashes: AccountHashes,
): Attributes => {
  const name = isRecord(input) ? input["account"] : undefined;
  const account = name === undefined || typeof name === "string" ? hashes(name) : undefined;
  // What is none of these inputs is for the run to refuse, in its own words.
  try {
    if (workflowType === WORKFLOW.payout && isPayout(input)) {
      return payoutStartAttributes(workflowId, input, account);
    }
    if (workflowType === WORKFLOW.onboardCardholder && isOnboarding(input)) {
      return onboardStartAttributes(input, { account, currency: CARD_CURRENCY });
    }
  } catch {
    // A field of it is not of its type, such as an amount that is a number.
  }
  return [];
};

type Given = WorkflowOptions["typedSearchAttributes"];

const pairsOf = (given: Given): Attributes =>
  given === undefined || Array.isArray(given) ? (given ?? []) : given.getAll();

/** Attributes of ours that whoever starts the run gives himself stay as he gives them. */
const isGiven = (given: Attributes): boolean =>
  given.some(({ key }) => searchAttributes.some(({ name }) => name === key.name));

/** A start of a run, as far as it is read here. */
interface Start {
  readonly workflowId: string;
  readonly args: ReadonlyArray<unknown>;
  readonly typedSearchAttributes?: Given;
}

/**
 * Make an interceptor of a client that starts payouts and onboardings with the search attributes which they would give
 * themselves: they are found before their first workflow task, and payouts take two events and two billable actions less.
 *
 * @param hashes the accounts that the runs are to be paid from.
 */
export const startAttributesInterceptor = (hashes: AccountHashes): WorkflowClientInterceptor => {
  const withAttributes = <Options extends Start>(
    workflowType: string,
    options: Options,
  ): Options => {
    const given = pairsOf(options.typedSearchAttributes);
    if (isGiven(given)) return options;
    const ours = attributesOf(workflowType, options.workflowId, options.args[0], hashes);
    return ours.length === 0 ? options : { ...options, typedSearchAttributes: [...given, ...ours] };
  };
  return {
    startWithDetails: (input, next) =>
      next({ ...input, options: withAttributes(input.workflowType, input.options) }),
    signalWithStart: (input, next) =>
      next({ ...input, options: withAttributes(input.workflowType, input.options) }),
    startUpdateWithStart: (input, next) =>
      next({
        ...input,
        workflowStartOptions: withAttributes(input.workflowType, input.workflowStartOptions),
      }),
  };
};
