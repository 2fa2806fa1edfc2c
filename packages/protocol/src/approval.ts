import { defineUpdate } from "./message-definitions.ts";

/** When a second person has to approve. */
export interface ApprovalOptions {
  /** Amounts above this, a decimal string in the payment's currency. */
  readonly above: string;
}

/** A payment that waits for a second person. */
export interface ApprovalRequest {
  /** What is to be approved; account numbers are not in it. */
  readonly payment: Readonly<Record<string, unknown>>;
  /** Stands for the whole payload: an approval names it, and holds for nothing else. */
  readonly hash: string;
  /** Who started the run, and cannot approve it. */
  readonly startedBy: string | undefined;
  /** Who amended the payment since, and cannot approve it either; mostly left out. */
  readonly amendedBy?: ReadonlyArray<string>;
  /** Who overruled a person who had ended the run, and cannot approve it either; mostly left out. */
  readonly overruledBy?: ReadonlyArray<string>;
  /** Who started what a person had rejected of it before, and cannot approve it; mostly left out. */
  readonly rejectedOf?: ReadonlyArray<string>;
  /** ISO 8601. */
  readonly since: string;
}

/** A second person's decision. */
export type Approval = { readonly by: string; readonly hash: string } & (
  | { readonly approve: true }
  | { readonly reject: string }
);

/** Approves or rejects a payment that waits for a second person. */
export const approveUpdate = defineUpdate<Approval>("approve");
