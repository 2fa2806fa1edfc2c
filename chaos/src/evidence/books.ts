import { payeeOf } from "../plan/plan-payouts.ts";
import type { Made, PlannedRun } from "../plan/planned-run.ts";
import type { ServiceLedger } from "../service/service.ts";
import type { Evidence } from "./evidence.ts";
import type { MoneyState, Owed } from "./reports.ts";

/** Meanings of the service's words for a payout; another word, or none, is under way. */
const STATES: Readonly<Record<string, MoneyState>> = {
  completed: "paid",
  failed: "failed",
  returned: "cameBack",
  reversed: "cameBack",
};

const stateOf = ({ isUndone, operation, status }: Made): MoneyState =>
  operation === "createCard" && isUndone ? "notPaid" : (STATES[status] ?? "underWay");

const last = (account: string): string => account.slice(-4);

/** Returns how reports name a beneficiary: by the last four characters of its account. */
const shownPayee = ({ beneficiaries }: ServiceLedger, id: string | undefined): string => {
  const found = beneficiaries.find(({ beneficiary_id }) => beneficiary_id === id);
  return found === undefined ? "" : last(payeeOf(found.details));
};

/** The money of runs as the books of their service have it: of each payout and each card, whether or not it was made. */
export const booksOf = ({
  ended,
  runs,
  service,
}: Pick<Evidence, "ended" | "runs" | "service">): ReadonlyArray<Owed> =>
  runs.flatMap(({ file, kind, makes, undoes = false, workflowId: subject }: PlannedRun) =>
    makes.flatMap(
      ({ amounts, beneficiaries = [], currency, mark, operation }): ReadonlyArray<Owed> => {
        if (operation === "createCardholder") return [];
        const isPayout = operation === "createPayout";
        const of = { subject, isOfFile: file !== undefined, isPayout };
        const made = service.made.findLast(
          (one) => one.operation === operation && one.mark === mark && !(undoes && one.isUndone),
        );
        // A person who ends a run gives up on a send whose outcome is unknown.
        const given: ReadonlyArray<MoneyState> = ended.has(subject) ? ["unknown"] : [];
        if (made !== undefined) {
          const { amount, id, payee } = made;
          const states = [stateOf(made), ...given];
          const payees = [shownPayee(service, payee)];
          return [{ ...of, id, states, amounts: [amount], currency: made.currency, payees }];
        }
        // Nobody has asked the service whose account an id is that was never paid.
        const wanted = beneficiaries.flatMap((one) =>
          "id" in one ? [shownPayee(service, one.id), ""] : [last(one.payee)],
        );
        const payees = wanted.length === 0 ? [""] : wanted;
        const states: ReadonlyArray<MoneyState> = ["notPaid", "planned", ...given];
        // Only its code knows what a workflow of a user's own would have paid.
        const isOptional = kind === "payTwice" || kind === "paySalary";
        return [{ ...of, isOptional, states, amounts, currency, payees }];
      },
    ),
  );
