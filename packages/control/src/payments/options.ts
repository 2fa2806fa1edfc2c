import type { Batch, Limits, WordMeaning } from "@durable-payments/ledger";
import type { Workflow } from "@temporalio/client";
import type { FilePlan, PayFileOptions } from "../actions/batch/pay-file.ts";
import type { Acting } from "../actions/decide/record.ts";
import type { RepairPlan } from "../actions/retry/repair.ts";
import type { RetryOptions, RetryPlan } from "../actions/retry/retry.ts";
import type { StartPaymentOptions, SubmittedRun } from "../actions/start.ts";
import type { FileType } from "../facts/read-file.ts";
import type { BatchView } from "../views/batch.ts";
import type { RunList } from "../views/list.ts";
import type { Report } from "../views/report.ts";

/** How a payment is started. */
export interface StartGiven extends Pick<Acting, "by" | "how"> {
  /**
   * Business key, of which the workflow id is made: `payout/invoice-17`. Default: the key of the input. With neither a key
   * nor an id, the id is made of the input.
   */
  readonly key?: string | undefined;
  /** Workflow id, instead of a key. */
  readonly id?: string | undefined;
  /** The reason why it is another payment, although an earlier one looks the same. */
  readonly notDuplicate?: string | undefined;
  /** Checks everything, and starts nothing. Default: false. */
  readonly isDryRun?: boolean;
}

/** A payment that was started, found, or only checked. */
export interface StartedRun extends SubmittedRun {
  /** Amount and reference: `EUR 250.00, Invoice 17`. */
  readonly summary: string;
  readonly isDryRun: boolean;
  /** Whether there is a run of the id, new or earlier. */
  readonly isKnown: boolean;
  /** Parts of the input that are unlikely, such as a date far ahead: a sentence for each. */
  readonly warnings: ReadonlyArray<string>;
}

/** How a workflow of your own is started. */
export interface StartWorkflow<W extends Workflow>
  extends
    Pick<Acting, "by" | "how">,
    Omit<StartPaymentOptions<W>, "account" | "how" | "ledger" | "startedBy"> {
  /** Name of the account that pays. */
  readonly account?: string;
}

/** How the rows of a file are started. */
export type FileOptions = PayFileOptions;

/** How a file is checked. */
export interface CheckFileOptions extends FileOptions {
  /** The workflow type of its rows; default: `payout`. */
  readonly type?: FileType;
}

/** How the rows of a checked file are started. */
export interface StartFileOptions extends FileOptions {
  /** The batch that `checkFile` has shown: a file with other rows is refused. */
  readonly batch?: string | undefined;
}

/** A file whose rows are started, or wait for an approval. */
export type StartedFile = FilePlan & Pick<BatchView, "createdBy" | "approvedBy" | "state">;

/** How a run or a batch is followed. */
export interface FollowOptions {
  /** Ends it; the run continues. */
  readonly signal?: AbortSignal | undefined;
}

/** A page of runs, with the sums of all runs that match. */
export type PageOfRuns = RunList & Pick<Report, "totals" | "unlisted">;

/** How a run is retried. */
export interface RetryGiven extends RetryOptions {
  /** Plans it, and changes nothing. Default: false. */
  readonly isDryRun?: boolean;
}

/** A repair that was started. */
export interface StartedRepair extends RepairPlan {
  /** Its id. */
  readonly repair: string;
  readonly state: Batch["state"];
}

/** A retry, or its plan. */
export interface RetriedRun extends RetryPlan {
  /** Changed fields of the input, in words. */
  readonly amended: ReadonlyArray<string>;
  /** Unlikely values of the changed input, in sentences. */
  readonly warnings: ReadonlyArray<string>;
  readonly isDryRun: boolean;
  /** The run that continues; null for a plan. */
  readonly newRunId: string | null;
}

/** The person who pauses or resumes, and the run or batch: everything without `id`. */
export type PauseGiven = Acting & { readonly id?: string | undefined };

/** Limits of an account: what is left out stays as it is, null removes the limit. */
export interface LimitsGiven extends Acting {
  readonly maxAmounts?: Limits["maxAmounts"] | undefined;
  readonly approveAbove?: Limits["approveAbove"] | undefined;
  /** Name or hash; default: the account that pays. */
  readonly account?: string | undefined;
}

/** The meaning of a status of the service, as a person gives it. */
export interface WordGiven extends Acting {
  readonly word: string;
  readonly means: WordMeaning;
  /** Name or hash; default: the account that pays. */
  readonly account?: string | undefined;
}
