import type { Fault } from "@durable-payments/client/effect";
import type { RowFault } from "@durable-payments/control/batch";
import type { answerAll } from "@durable-payments/control/decide";
import type { NextAction } from "@durable-payments/control/errors";
import type {
  Cancelled,
  CancelledBatch,
  Check,
  DecidedMeaning,
  Duplicates,
  FeedEvent,
  Diagnosis,
  FilePlan,
  Inbox,
  InboxItem,
  LimitsView,
  RepairPlan,
  StartedRepair,
  OverviewView,
  RecoveryReport,
  Replayed,
  RetryPreview,
  RetryPlan,
} from "@durable-payments/control/payments";
import type {
  BatchDetails,
  BatchRowView,
  BatchView,
  listRuns,
  Report,
  ReportLine,
  RunDetails,
  RunLog,
  RunView,
} from "@durable-payments/control/show";
import type { SubmittedRun } from "@durable-payments/control/start";
import type { resume } from "@durable-payments/control/stopping";
import type { DecidedWord, FailureGroup, Pause } from "@durable-payments/ledger";
import type { Delivery } from "@durable-payments/protocol";
import type { Configuration } from "../../src/output/configuration.ts";

type Start = Partial<SubmittedRun> & {
  readonly workflowId: string;
  /** Whether this command has started it. */
  readonly isNew: boolean;
  /** Whether the id existed. */
  readonly isKnown: boolean;
  readonly isDryRun: boolean;
  readonly summary: string;
  readonly warnings: ReadonlyArray<string>;
  /** With `--wait`, as it is then. */
  readonly run?: RunDetails;
};

type Upload = FilePlan & {
  readonly isDryRun?: true;
  readonly state?: BatchView["state"];
  readonly createdBy?: string;
  /** With `--wait`, as it is then. */
  readonly ended?: BatchDetails;
};

interface Decision<Is extends string> {
  readonly workflowId: string;
  readonly is: Is;
}

/** Answers of the command line with `--json`, by command. */
export interface JsonOutput {
  /** The overview, without a command. */
  readonly overview: Omit<OverviewView, "next"> & {
    readonly checks: ReadonlyArray<Check>;
    readonly next: ReadonlyArray<NextAction>;
  };
  readonly inbox: Inbox;
  /** Runs; sums with `--group-by`; files with `--batches`. */
  readonly list:
    | (Awaited<ReturnType<typeof listRuns>> & Pick<Report, "totals" | "unlisted">)
    | Report
    | { readonly batches: ReadonlyArray<BatchView> };
  /** One line of \`--jsonl\`. */
  readonly "list-line": RunView | ReportLine | BatchView;
  readonly "inbox-line": InboxItem;
  readonly events: { readonly events: ReadonlyArray<FeedEvent> };
  /** One line of `--jsonl`, or of `--json` with `--follow`. */
  readonly "events-line": FeedEvent;
  readonly "events-redeliver": { readonly endpoints: number };
  readonly report: Report;
  readonly "report-line": ReportLine;
  /** A run; a run with `--follow`; a file, `listed` with `--rows`; a log with `--log`; a link with `--web`. */
  readonly show:
    | RunDetails
    | RunView
    | BatchDetails
    | RunLog
    | { readonly workflowId: string; readonly webUi: string };
  /** With \`--rows\` a row, with \`--log\` an entry. */
  readonly "show-line": BatchRowView | RunLog["lines"][number];
  readonly pay: Start | Upload;
  readonly onboard: Start | Upload;
  readonly answer:
    | {
        readonly workflowId: string;
        readonly step: string | null;
        readonly choice: "found" | "resend" | "end";
        readonly by: string;
      }
    | Awaited<ReturnType<typeof answerAll>>;
  readonly approve: Decision<"approved">;
  readonly reject: Decision<"rejected">;
  readonly retry:
    | (RetryPlan & {
        readonly amended?: ReadonlyArray<string>;
        readonly warnings?: ReadonlyArray<string>;
        readonly isDryRun?: true;
        readonly newRunId?: string;
      })
    | (RepairPlan & { readonly isDryRun: boolean })
    | StartedRepair
    | RetryPreview;
  readonly failed: {
    readonly groups: ReadonlyArray<FailureGroup>;
    /** What a retry of a group would do. */
    readonly plan?: RepairPlan;
  };
  readonly duplicates: Duplicates;
  readonly cancel:
    | (Pick<Cancelled, "hasStopped" | "run" | "succeeded"> & { readonly workflowId: string })
    | (CancelledBatch & { readonly batch: string });
  readonly pause: Pause;
  readonly resume: Awaited<ReturnType<typeof resume>>;
  readonly "limits-show": { readonly limits: ReadonlyArray<LimitsView> };
  readonly "limits-set": LimitsView;
  /** Without arguments, the decisions of all accounts. */
  readonly word: DecidedMeaning | { readonly words: ReadonlyArray<DecidedWord> };
  /** The checks; with `--test-webhook` the delivery. */
  readonly doctor: Diagnosis | Delivery;
  readonly config: Configuration;
  readonly recover: RecoveryReport;
  readonly replay: Replayed;
  readonly "ledger-backup": { readonly file: string };
  readonly "ledger-migrate": {
    readonly place: string;
    readonly migrations: ReadonlyArray<number>;
  };
  readonly "ledger-prune": { readonly workflowIds: number };
  /** Any command that fails before it answers. */
  readonly error: {
    readonly error: {
      readonly type: string;
      readonly message: string;
      /** With the row and the column of a file. */
      readonly faults?: ReadonlyArray<Fault & Partial<RowFault>>;
      readonly stack?: string;
    };
  };
}
