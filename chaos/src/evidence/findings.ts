import { isRecord } from "@durable-payments/api-core/values";
/** Something that is not as it must be. */
export interface Finding {
  /** The run's workflow id, or what else it is about. */
  readonly subject: string;
  readonly what: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** How many there must be of what a run makes; `either` where that cannot be known. */
export type Due = "one" | "none" | "either";

/** What a comparison has found so far. */
export class Findings {
  /** More in the ledger than one run may make. */
  readonly duplicates: Finding[] = [];
  /** A run says that it was done, and it was not; or it was done, and no list shows it. */
  readonly lost: Finding[] = [];
  /** A result, a key or a balance that differs from the ledger; a failure without a cause. */
  readonly wrong: Finding[] = [];
  /** Not ended when the time was up. */
  readonly stuck: Finding[] = [];

  /**
   * Compare how many there are with how many there must be.
   *
   * @returns the one that there is
   */
  one<A>(
    subject: string,
    name: string,
    { due, found }: { readonly found: readonly A[]; readonly due: Due },
  ): A | undefined {
    const [first, ...more] = found;
    if (more.length > 0) {
      this.duplicates.push({ subject, what: `${found.length} ${name}s instead of one` });
      return undefined;
    }
    if (due === "one" && first === undefined) {
      this.lost.push({ subject, what: `no ${name} in the ledger` });
    }
    if (due === "none" && first !== undefined) {
      this.lost.push({ subject, what: `a ${name} that the run does not know of` });
    }
    return due === "none" ? undefined : first;
  }

  /** Compare what a run says with each field that the ledger gives. */
  fields(subject: string, said: Fields, kept: Fields): void {
    for (const [field, value] of Object.entries(kept)) {
      if (said[field] === value) continue;
      this.wrong.push({
        subject,
        what: `${field} is ${String(said[field])}, in the ledger ${String(value)}`,
      });
    }
  }

  /** Check that a run can be found by what it made. */
  findable(subject: string, known: readonly string[], ids: readonly string[]): void {
    for (const id of ids.filter((one) => !known.includes(one))) {
      this.wrong.push({ subject, what: `its PaymentIds lack ${id}` });
    }
  }
}

/** The fields of a result; each is compared before it is believed. */
export const fieldsOf = (result: unknown): Fields => (isRecord(result) ? result : {});
