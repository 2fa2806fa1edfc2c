import { isRecord } from "@durable-payments/client/values";
import { textAt } from "@durable-payments/protocol";
import { isLeftUnread, matchText } from "../evidence/match.ts";
import type { Ledger } from "@durable-payments/ledger";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientCall } from "../run-operation.ts";

/** Whether a field of a beneficiary is legibly different from the request. */
type IsOther = (sent: string, shown: string) => boolean;

const plain = (text: string): string => text.replaceAll(/[\s-]/g, "").toUpperCase();

const isOtherCode: IsOther = (sent, shown) => {
  const [a, b] = [plain(sent), plain(shown)];
  if (isLeftUnread(b) || !/^[A-Z\d]+$/.test(b)) return false;
  // The service may show only a part of it, such as its last digits.
  return !a.includes(b) && !b.endsWith(a);
};

/** The head office has XXX for its branch, or nothing. */
const branchless = (code: string): string => plain(code).replace(/^(.{8})XXX$/, "$1");

const isOtherSwift: IsOther = (sent, shown) => isOtherCode(branchless(sent), branchless(shown));

/** Codes of countries and currencies; a name instead of a code says nothing. */
const isOtherShort: IsOther = (sent, shown) =>
  isOtherCode(sent, shown) && plain(sent).length === plain(shown).length;

const isOtherText: IsOther = (sent, shown) => matchText(sent, shown) === "different";

/** A field by its name in the request. */
interface ComparedField {
  readonly field: string;
  /** Its name in responses, if different. */
  readonly shown?: string;
  readonly isOther: IsOther;
}

/** Fields of a payee that an approver is shown. A bank has many names, so its name proves nothing. */
const FIELDS: ReadonlyArray<ComparedField> = [
  { field: "iban", isOther: isOtherCode },
  { field: "account_number", isOther: isOtherCode },
  { field: "swift_code", isOther: isOtherSwift },
  { field: "clearing_system", isOther: isOtherCode },
  { field: "routing_code_type1", isOther: isOtherCode },
  { field: "routing_code_value1", isOther: isOtherCode },
  { field: "routing_code_type2", isOther: isOtherCode },
  { field: "routing_code_value2", isOther: isOtherCode },
  { field: "account_currency", shown: "account_currency_code", isOther: isOtherShort },
  { field: "bank_country", shown: "bank_country_code", isOther: isOtherShort },
  { field: "account_holder", isOther: isOtherText },
];

/** Further fields of a payee that banks check: with another one, it is another beneficiary of the same account. */
const REUSE_FIELDS: ReadonlyArray<ComparedField> = [
  ...FIELDS,
  { field: "payment_method", isOther: isOtherCode },
  { field: "entity_type", isOther: isOtherCode },
  { field: "company_name", shown: "beneficiary_company_name", isOther: isOtherText },
  { field: "first_name", shown: "beneficiary_first_name", isOther: isOtherText },
  { field: "last_name", shown: "beneficiary_last_name", isOther: isOtherText },
  { field: "country_code", isOther: isOtherShort },
  { field: "city", isOther: isOtherText },
  { field: "postal_code", isOther: isOtherCode },
  { field: "address", shown: "street_address", isOther: isOtherText },
];

/**
 * Returns the field of a payee that the service legibly shows with another value; undefined if nothing contradicts.
 */
export const contradictedField = (
  request: unknown,
  beneficiary: unknown,
  fields = FIELDS,
): string | undefined => {
  const parts = isRecord(beneficiary)
    ? [beneficiary["beneficiary_bank_details"], beneficiary["beneficiary_address"], beneficiary]
    : [];
  return fields.find(({ field, isOther, shown = field }) => {
    const sent = textAt(request, field);
    if (sent === undefined) return false;
    const texts = parts.flatMap((part) => textAt(part, shown) ?? []);
    return texts.some((text) => isOther(sent, text));
  })?.field;
};

/** Longer than a send: the lease of a killed worker expires. */
const LEASE_MS = 60_000;

/** Longest wait for another caller, so that a dispatch still comes in time. */
const MOST_WAIT_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 100;

/**
 * Lets one caller work at a time, on any worker, by a lease of the ledger.
 *
 * @returns what ends the lease; undefined if another caller has it for too long.
 */
export const takeTurn = async (
  ledger: Ledger,
  name: string,
): Promise<(() => Promise<unknown>) | undefined> => {
  const holder = randomUUID();
  const until = performance.now() + MOST_WAIT_MS;
  while (!(await ledger.lease(name, holder, LEASE_MS))) {
    if (performance.now() > until) return undefined;
    await sleep(ASK_AGAIN_AFTER_MS);
  }
  return () => ledger.lease(name, holder, 0);
};

/** The searched beneficiary. */
interface Wanted {
  readonly account: string;
  /** Mark of the payee's account, as the ledger keeps it. */
  readonly payee: string;
  readonly request: unknown;
  readonly ledger: Ledger;
  /** Reads at the service; undefined if the service does not know it. */
  readonly readOrNone: <A>(call: ClientCall<A>) => Promise<A | undefined>;
}

const ACTIVE = /^active$/i;

/**
 * Returns a beneficiary that the ledger has for the same account. The service must still show it as active, and must show
 * nothing legible that contradicts the request. Undefined if a new beneficiary is needed.
 */
export const reusableBeneficiary = async ({
  account,
  ledger,
  payee,
  readOrNone,
  request,
}: Wanted): Promise<unknown> => {
  // Beneficiaries of one account differ in their currencies, for example.
  const made = await ledger.madeFor(account, "createBeneficiary", payee);
  // An account number shown with an IBAN is a part of it, or was changed later.
  const number = textAt(request, "account_number") ?? textAt(request, "iban");
  const sent = { ...(isRecord(request) ? request : {}), account_number: number };
  for (const beneficiary_id of made) {
    const shown = await readOrNone((client) => client.retrieveBeneficiary({ beneficiary_id }));
    const isActive = shown !== undefined && ACTIVE.test(shown.beneficiary_status ?? "active");
    if (isActive && contradictedField(sent, shown, REUSE_FIELDS) === undefined)
      return { ...shown, beneficiary_id };
  }
  return undefined;
};
