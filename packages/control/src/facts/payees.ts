import type { Ledger, Run, WriteRow } from "@durable-payments/ledger";

/** A run that names its payee: others may name the same account with another holder. */
type Naming = Pick<Run, "namedAs" | "payee">;

/**
 * Returns how a payee is described, by its id or mark, by the account that pays it, and by the run that names it; null if
 * nobody has described it. Accounts may have different payees with one id. An account of null may be any.
 */
export type NameOf = (payee: string | null, account: string | null, run?: Naming) => string | null;

const ENDING = /^(.*?)(?:,? account ending in (\S+))$/;

/** Returns the name of a payee and the last characters of its account, as it is described. */
export const namesOf = (shown: string | null) => {
  const [, name = shown, account = null] = ENDING.exec(shown ?? "") ?? [];
  return { payeeName: name || null, payeeAccount: account };
};

const keyOf = (account: string | null, payee: string): string => JSON.stringify([account, payee]);

/** The account of descriptions whose account is unknown. */
const NO_ACCOUNT = "";

/**
 * Reads how payees are described. A beneficiary or cardholder that a run has created itself is the account or person that it names.
 *
 * @param payees ids and marks.
 * @param rows writes of the runs that pay them.
 * @param runs the runs that name them.
 */
export const readNames = async (
  ledger: Pick<Ledger, "payees">,
  payees: ReadonlyArray<string | null>,
  rows: ReadonlyArray<WriteRow> = [],
  runs: ReadonlyArray<Naming> = [],
): Promise<NameOf> => {
  const created = new Map(
    rows.flatMap(({ account, madeId, operation, request: { payee } }) =>
      (operation === "createBeneficiary" || operation === "createCardholder") &&
      madeId !== null &&
      payee !== null
        ? [[keyOf(account, madeId), payee] as const]
        : [],
    ),
  );
  const named = runs.flatMap(({ namedAs, payee }) => [namedAs, payee]);
  const wanted = new Set([...payees, ...created.values(), ...named].filter((one) => one !== null));
  const found = wanted.size === 0 ? [] : await ledger.payees({ payees: [...wanted] });
  const names = new Map(
    found.flatMap(({ account, payee, shown }) =>
      [account, null].map((of) => [keyOf(of, payee), shown] as const),
    ),
  );
  return (payee, account, run) => {
    if (payee === null) return null;
    const mark = created.get(keyOf(account, payee)) ?? payee;
    const namedAs = run?.payee === mark ? run.namedAs : null;
    // A run that was started without its account has described its payee without one.
    const shownOf = (one: string) =>
      names.get(keyOf(account, one)) ?? names.get(keyOf(NO_ACCOUNT, one));
    return shownOf(payee) ?? shownOf(namedAs ?? mark) ?? null;
  };
};
