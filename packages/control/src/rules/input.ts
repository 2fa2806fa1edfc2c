import {
  type Assumptions,
  type Fault,
  firstFaults,
  type OperationName,
} from "@durable-payments/client/effect";
import { checkInput } from "@durable-payments/client/contract";
import { cleanTexts, idFault, isRecord, keyFault } from "@durable-payments/client/values";
import {
  contentId,
  inCapitals,
  type OnboardCardholderInput,
  type PayoutInput,
} from "@durable-payments/protocol";
import { inputFaults } from "@durable-payments/protocol/inputs";
import { invalidFields, invalidInput } from "../errors.ts";
import type { FileType } from "../facts/read-file.ts";
import { otherCurrencyOf } from "./payment.ts";

/** Temporal's limit, in bytes of UTF-8. */
const LONGEST_ID = 1000;

/** Prefixes of the ids of the project's own workflows, and of logs that no workflow has. */
const RESERVED = ["payouts/", "onboardings/", "tracker/", "notifier/", "limits/", "batch:"];

/** A caller without types can give anything. */
const idProblem = (given: unknown): string | undefined => {
  const id = given ?? "";
  if (typeof id !== "string") return "must be a text";
  if (id === "") return "must not be empty";
  const fault = idFault(id);
  if (fault !== undefined) return fault;
  if (Buffer.byteLength(id) > LONGEST_ID) return `must have at most ${LONGEST_ID} bytes`;
  const reserved = RESERVED.find((begin) => id.startsWith(begin));
  return reserved && `must not begin with "${reserved}", which is reserved`;
};

/**
 * Returns a valid id of a new run, cleaned: an id in NFD is the one in NFC.
 *
 * @throws InvalidInput if Temporal would refuse it, or it begins like the id of a batch or a tracker.
 */
export const checkId = (given: string): string => {
  const id = cleanTexts(given);
  const problem = idProblem(id);
  if (problem !== undefined) throw invalidInput(`The id ${problem}. Nothing was started.`);
  return id;
};

/**
 * Returns the workflow id of a business key: `payout/invoice-17`. Every payout with this key has it, in a file or not.
 *
 * @throws InvalidInput if it cannot be the key of a payment.
 */
export const idOfKey = (workflowType: string, given: string): string => {
  const key = cleanTexts(given);
  const problem = keyFault(key);
  if (problem !== undefined) throw invalidInput(`The key ${problem}. Nothing was started.`);
  return checkId(`${workflowType}/${key}`);
};

/** A run whose input has been checked. */
export type PlannedRun = ReturnType<typeof plannedRun>;

const plannedRun = <Input extends PayoutInput | OnboardCardholderInput>(
  workflowType: FileType,
  input: Input,
) => ({
  workflowType,
  /** The id when the user gives none. */
  contentId: contentId(input),
  input,
});

/** Fields that the run fills in, each with the message if they are given. */
type FilledIn = Readonly<Record<string, string>>;

const BY_THE_RUN = "is filled in by the run: leave it out";

/** The faults of a request in a field of the input; none if the field is not an object. */
const requestFaults = (
  name: OperationName,
  assumptions: Assumptions,
  at: string,
  request: unknown,
  filledIn: FilledIn = {},
): ReadonlyArray<Fault> =>
  isRecord(request)
    ? [
        ...Object.entries(filledIn).flatMap(([field, problem]) =>
          field in request ? [{ field, problem }] : [],
        ),
        ...checkInput(name, request, { assumptions, later: Object.keys(filledIn) }),
      ].map(({ field, problem }) => ({ field: field === "" ? at : `${at}.${field}`, problem }))
    : [];

const checked = (
  workflow: Parameters<typeof inputFaults>[0],
  given: unknown,
  faultsOfRequests: (input: Readonly<Record<string, unknown>>) => ReadonlyArray<Fault>,
): unknown => {
  const input = cleanTexts(given);
  if (!isRecord(input)) throw invalidInput("The input must be a JSON object. Nothing was started.");
  const faults = firstFaults([...faultsOfRequests(input), ...inputFaults(workflow, input)]);
  if (faults.length === 0) return input;
  throw invalidFields("The input is invalid", faults, "Nothing was started.");
};

/** Checks the input of a payout. @throws InvalidInput that names every fault. */
const checkPayout = (input: unknown, assumptions: Assumptions): PayoutInput =>
  // Every field was checked.
  checked("payout", input, ({ beneficiary, payout }) => [
    ...requestFaults("createBeneficiary", assumptions, "beneficiary", beneficiary),
    ...requestFaults("createPayout", assumptions, "payout", payout, {
      beneficiary_id: "belongs next to payout, not inside it",
      unique_request_id: "is made by the run: leave it out",
    }),
  ]) as PayoutInput;

/**
 * Checks the input of a payout, and plans its run. Nothing is sent.
 *
 * @param input `{beneficiary | beneficiary_id, payout, account?, options?}` with the service's own field names; amounts
 *   are decimal strings.
 * @param assumptions about the service; `defaultAssumptions` of api-core.
 * @returns what `startRun` needs, with an id derived from the content.
 * @throws InvalidInput that names every fault.
 */
export const planPayout = (input: unknown, assumptions: Assumptions) =>
  plannedRun("payout", inCapitals(checkPayout(input, assumptions)));

/** The card is issued by one operation and named by another. */
const cardFaults = (card: unknown, assumptions: Assumptions): ReadonlyArray<Fault> => {
  if (!isRecord(card)) return [];
  const { card_name, ...issued } = card;
  const named = card_name === undefined ? undefined : { card_name };
  return [
    ...requestFaults("createCard", assumptions, "card", issued, {
      card_holder_id: BY_THE_RUN,
      balance_id: BY_THE_RUN,
      unique_request_id: BY_THE_RUN,
    }),
    ...requestFaults("updateCard", assumptions, "card", named, { card_id: BY_THE_RUN }),
  ];
};

/**
 * Checks the input of an onboarding, and plans its run. Nothing is sent.
 *
 * @param input `{cardholder | card_holder_id, card, account?, options?}` with the service's own field names.
 * @param assumptions about the service; `defaultAssumptions` of api-core.
 * @returns what `startRun` needs, with an id derived from the content.
 * @throws InvalidInput that names every fault.
 */
export const planOnboarding = (input: unknown, assumptions: Assumptions) => {
  const onboarding = checked("onboardCardholder", input, ({ card, cardholder }) => [
    ...requestFaults("createCardholder", assumptions, "cardholder", cardholder),
    ...cardFaults(card, assumptions),
  ]);
  // Every field was checked.
  return plannedRun("onboardCardholder", onboarding as OnboardCardholderInput);
};

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/**
 * Returns what is unlikely in a valid payout, in sentences. The service decides about it, and may change: so it is not refused.
 *
 * @param now milliseconds since 1970; a payment date is a day in UTC.
 */
export const warningsOf = ({ input }: Pick<PlannedRun, "input">, now: number) => {
  if (!("payout" in input)) return [];
  const { currency, payment_date } = input.payout;
  const other = otherCurrencyOf(input);
  return [
    ...(CURRENCIES.has(currency) ? [] : [`${currency} is not a currency of ISO 4217.`]),
    ...(other === undefined ? [] : [`It pays ${currency} to an account in ${other}.`]),
    ...(payment_date < new Date(now).toISOString().slice(0, 10)
      ? [`The payment date ${payment_date} is in the past.`]
      : []),
  ];
};
