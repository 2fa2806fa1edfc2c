import {
  type ApprovalRequest,
  approvalTexts,
  approveCommands,
  type DecisionCommand,
  evidenceOf,
  type HumanTask,
  type Progress,
  resolveCommands,
  type StepProgress,
  utc,
} from "@durable-payments/protocol";
import { type RunState, type StepState, stepStateOf } from "@durable-payments/operations/runs";
import { isApproval } from "@durable-payments/operations/decisions";
import { commandLines } from "./command-line.ts";
import { columns, duration, fieldRows, textOf, wrap } from "./text.ts";

/** What marks the state of a step. */
export const MARKS = {
  running: "…",
  waiting: "…",
  attention: "!",
  completed: "✓",
  failed: "✗",
  cancelled: "✗",
  inDoubt: "?",
} as const satisfies Record<StepState, string>;

/** How long a step took, or has been going on. */
export const stepTime = (
  { since, until }: Pick<StepProgress, "since" | "until">,
  now = Date.now(),
): string => duration((until === undefined ? now : Date.parse(until)) - Date.parse(since));

const stepLine = (step: StepProgress): string => {
  const start = `${MARKS[stepStateOf(step)]} ${step.name}`;
  if (step.until !== undefined) return `${start} ${stepTime(step)}`;
  // Why a person is needed is shown at length.
  return step.status === "needsAttention" ? start : `${start} ${step.note ?? ""}`.trimEnd();
};

const isFlat = (value: unknown): boolean =>
  typeof value !== "object" || value === null || Object.values(value).every(isPlain);
const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;

const tableLines = (title: string, shown: unknown): Array<string> => {
  if (isFlat(shown)) return [`${title}:`, columns(fieldRows(shown), "    ")];
  if (Array.isArray(shown)) {
    return shown.flatMap((value, index) =>
      tableLines(`${title} (${index + 1} of ${shown.length})`, value),
    );
  }
  // Not flat: an object.
  return Object.entries(shown as object).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.length === 0) return [];
    return isPlain(value)
      ? [`${title}, ${name}: ${textOf(value)}`]
      : tableLines(`${title}, ${name}`, value);
  });
};

/** The run that is shown, and is decided about: no other of its workflow id. */
type ShownRun = Pick<RunState, "runId" | "workflowId">;

/** The commands by which a person decides, each below what it does to the money. */
export const decideLines = (commands: ReadonlyArray<DecisionCommand>): Array<string> =>
  commands.flatMap(({ args, consequence }) => [
    wrap(consequence, "    "),
    commandLines("      ", ...args),
  ]);

/** What a person can do about a run that needs attention. */
export const attentionLines = (run: ShownRun, attention: HumanTask): Array<string> => {
  const { candidates, reason, sent, since, step, toSend } = attention;
  return [
    wrap(`${step} needs a person since ${utc(since)}: ${reason}`, "  "),
    ...evidenceOf(attention).map((sentence) => wrap(sentence, "  ")),
    toSend === undefined ? "  What was sent:" : "  What was sent before, as the journal has it:",
    columns(fieldRows(sent), "    "),
    ...(toSend === undefined
      ? []
      : ["  What was not sent, and is to be sent now:", columns(fieldRows(toSend), "    ")]),
    ...candidates.flatMap((candidate, index) => [
      `  What may be it (${index + 1} of ${candidates.length}):`,
      columns(fieldRows(candidate), "    "),
    ]),
    "  Decide, by one of:",
    ...decideLines(resolveCommands(run, attention)),
  ];
};

/** What a second person is to know of a payment that waits for approval. */
export const requestLines = (request: ApprovalRequest): Array<string> => {
  const { amended = [], payment } = request;
  const texts = approvalTexts(request);
  return [
    wrap(texts.waits, "  "),
    columns(fieldRows(payment), "    "),
    ...(texts.amended === undefined ? [] : [wrap(texts.amended, "  ")]),
    ...(amended.length === 0
      ? []
      : [
          columns(
            amended.map(({ after, before, field }) => [
              field,
              `${before || "none"} → ${after || "none"}`,
            ]),
            "    ",
          ),
        ]),
    ...texts.warnings.map((warning) => wrap(warning, "  ")),
  ];
};

/** What a second person can do about a payment that waits for approval. */
export const approvalLines = (run: ShownRun, request: ApprovalRequest): Array<string> => [
  ...requestLines(request),
  "  Decide, by one of:",
  ...decideLines(approveCommands(run, request)),
];

/** What a run shows to whom it waits for: bank details by which a balance is funded, a payment to approve. */
export const shownLines = (run: ShownRun, title: string, shown: unknown): Array<string> =>
  isApproval(shown) ? approvalLines(run, shown) : tableLines(`  ${title}`, shown);

/** What has changed between two polls of a run, line by line. */
export const progressLines = (
  run: ShownRun,
  before: Progress | undefined,
  now: Progress,
): Array<string> => {
  const steps = now.steps.filter((step) => {
    const known = before?.steps.find(({ name }) => name === step.name);
    return known === undefined || known.status !== step.status || known.note !== step.note;
  });
  const shown = Object.entries(now.shown).filter(([title]) => !(title in (before?.shown ?? {})));
  return [
    ...steps.map(stepLine),
    ...shown.flatMap(([title, value]) => shownLines(run, title, value)),
    ...(now.attention && now.attention.question !== before?.attention?.question
      ? attentionLines(run, now.attention)
      : []),
  ];
};
