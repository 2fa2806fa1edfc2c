import type { Ledger, WriteRow } from "@durable-payments/ledger";

/** Returns how a payee is described, by its id or mark; null if nobody has described it. */
export type NameOf = (payee: string | null) => string | null;

const ENDING = /^(.*?)(?:,? account ending in (\S+))$/;

/** Returns the name of a payee and the last characters of its account, as it is described. */
export const namesOf = (shown: string | null) => {
  const [, name = shown, account = null] = ENDING.exec(shown ?? "") ?? [];
  return { payeeName: name || null, payeeAccount: account };
};

/**
 * Reads how payees are described. A beneficiary or cardholder that a run has created itself is the account or person that it names.
 *
 * @param payees ids and marks.
 * @param rows writes of the run that pays them.
 */
export const readNames = async (
  ledger: Pick<Ledger, "payees">,
  payees: ReadonlyArray<string | null>,
  rows: ReadonlyArray<WriteRow> = [],
): Promise<NameOf> => {
  const created = new Map(
    rows.flatMap(({ madeId, operation, request: { payee } }) =>
      (operation === "createBeneficiary" || operation === "createCardholder") &&
      madeId !== null &&
      payee !== null
        ? [[madeId, payee] as const]
        : [],
    ),
  );
  const wanted = new Set([...payees, ...created.values()].filter((one) => one !== null));
  const found = wanted.size === 0 ? [] : await ledger.payees({ payees: [...wanted] });
  const names = new Map(found.map(({ payee, shown }) => [payee, shown]));
  return (payee) =>
    payee === null ? null : (names.get(payee) ?? names.get(created.get(payee) ?? "") ?? null);
};
