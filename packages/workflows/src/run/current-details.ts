import { isRecord, shownText } from "@durable-payments/api-core/values";
import {
  approveCommands,
  type ApprovalRequest,
  approvalTexts,
  type DecisionCommand,
  evidenceOf,
  type HumanTask,
  type Progress,
  resolveCommands,
  shellBlock,
  type StepProgress,
  utc,
} from "@durable-payments/protocol";

const MARKS = { running: "▶", waiting: "…", needsAttention: "!", done: "✓", failed: "✗" } as const;

/** The Web UI asks its server for the rendered text by a URL that holds all of it. */
const MOST_CANDIDATES = 5;
const LONGEST_TEXT = 600;

/** What a run shows of itself, beside its progress. */
export interface DescribedRun {
  readonly workflowId: string;
  readonly runId: string;
  /** What it is to do, by its input as it was amended. */
  readonly summary: string | undefined;
  /** Who has amended it. */
  readonly amendedBy: ReadonlyArray<string>;
}

/**
 * What markdown takes for more than itself, of what the Web UI's renderer takes back a backslash from: it
 * shows the backslash before a comma, a semicolon or a slash.
 */
const SPECIAL = /[!#$&()*+\-.:<>[\\\]^_`{|}~]/g;

/** A text that was written elsewhere, as markdown shows it word for word and in one line. */
const plain = (text: string): string => {
  const shown = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
  return shownText(shown.trim()).replaceAll(SPECIAL, String.raw`\$&`);
};

const valueText = (value: unknown): string => {
  if (value === undefined || value === null || value === "") return "–";
  return plain(typeof value === "string" ? value : JSON.stringify(value));
};

const fields = (value: Readonly<Record<string, unknown>>): string =>
  Object.entries(value)
    .map(([name, field]) => `- ${plain(name)}: ${valueText(field)}`)
    .join("\n");

const commandBlock = ({ args, consequence }: DecisionCommand): ReadonlyArray<string> => [
  plain(consequence),
  shellBlock([args]),
];

const taskText = (run: DescribedRun, task: HumanTask): ReadonlyArray<string> => {
  const { candidates, question, reason, sent, since, step, toSend } = task;
  const more = candidates.length - MOST_CANDIDATES;
  return [
    `### ! A person has to decide: ${plain(step)}`,
    `Question ${plain(question)}, asked ${utc(since)}`,
    plain(reason),
    ...evidenceOf(task).map(plain),
    `**What was sent${toSend === undefined ? "" : " before, as the journal has it"}**`,
    fields(sent),
    ...(toSend === undefined ? [] : ["**What is to be sent now**", fields(toSend)]),
    ...candidates
      .slice(0, MOST_CANDIDATES)
      .flatMap((candidate, index) => [
        `**What may be it (${index + 1} of ${candidates.length})**`,
        fields(candidate),
      ]),
    ...(more > 0 ? [`and ${more} more, by ${plain(`starter status ${run.workflowId}`)}`] : []),
    "**Decide, by one of**",
    ...resolveCommands(run, task).flatMap(commandBlock),
  ];
};

const isApproval = (shown: unknown): shown is ApprovalRequest =>
  isRecord(shown) && typeof shown["hash"] === "string" && isRecord(shown["payment"]);

const approvalText = (run: DescribedRun, request: ApprovalRequest): ReadonlyArray<string> => {
  const { amended = [] } = request;
  const texts = approvalTexts(request);
  return [
    "### ! A second person has to approve",
    plain(`${texts.waits} Asked ${utc(request.since)}.`),
    fields(request.payment),
    ...(texts.amended === undefined ? [] : [plain(texts.amended)]),
    ...(amended.length === 0
      ? []
      : [
          fields(
            Object.fromEntries(
              amended.map(({ after, before, field }) => [
                field,
                `${before || "none"} → ${after || "none"}`,
              ]),
            ),
          ),
        ]),
    ...texts.warnings.map(plain),
    "**Decide, by one of**",
    ...approveCommands(run, request).flatMap(commandBlock),
  ];
};

const stepText = ({ name, note = "", status, waitsUntil }: StepProgress): string =>
  [
    `${MARKS[status]} **${plain(name)}**`,
    plain(note),
    ...(waitsUntil === undefined || status !== "waiting" ? [] : [`(until ${utc(waitsUntil)})`]),
  ]
    .join(" ")
    .trim();

const ENDS: Readonly<Record<string, string>> = {
  done: "### ✓ Completed",
  failed: "### ✗ Failed",
  cancelled: "### ✗ Cancelled",
};

/**
 * Describe a run as markdown, for the Web UI: what it is to do, what it asks and by which commands that is
 * answered, what it waits for until when, what it has done. What was written elsewhere stands there word
 * for word; account numbers are not in it.
 *
 * @param progress how the run stands.
 * @param run which run it is, and what it is to do.
 * @returns CommonMark.
 */
export const currentDetails = (progress: Progress, run: DescribedRun): string => {
  const { attention, ids, notes, shown, stage, steps } = progress;
  const amended = run.amendedBy.length === 0 ? "" : `, amended by ${run.amendedBy.join(", ")}`;
  const waitsForFunds = Object.keys(shown).filter(
    (name) => shown[name] !== undefined && !isApproval(shown[name]),
  );
  return [
    ...(run.summary === undefined ? [] : [`**${plain(`${run.summary}${amended}`)}**`]),
    ...(attention === undefined ? [] : taskText(run, attention)),
    ...Object.values(shown).flatMap((what) => (isApproval(what) ? approvalText(run, what) : [])),
    ...(ENDS[stage] === undefined ? [] : [ENDS[stage]]),
    ...steps.map(stepText),
    ...(waitsForFunds.length === 0
      ? []
      : [
          `${plain(waitsForFunds.join(", "))}: bank details by ${plain(`starter status ${run.workflowId}`)}`,
        ]),
    ...Object.entries(ids).map(([name, id]) => `${plain(name)}: ${plain(id)}`),
    ...notes.map((note) => `! ${plain(note)}`),
    // The Web UI cuts off the last line of a long text.
    plain(`More: starter runs show ${run.workflowId}`),
  ].join("\n\n");
};
