import type {
  Check,
  Diagnosis,
  OverviewView,
  RecoveryReport,
} from "@durable-payments/control/payments";
import { plainCommand } from "../command-name.ts";
import { inFlags } from "./error-report.ts";
import { byName, commandOf, nextLines } from "./next.ts";
import { KINDS } from "./run-text.ts";
import {
  beside,
  columnsOf,
  counted,
  joined,
  joinedLines,
  pad,
  pairs,
  section,
  styled,
  table,
  totals,
  wrap,
} from "./text.ts";

/** The overview: the installation, and waiting items. */
export interface ShownOverview extends OverviewView {
  /** Service, tracker and ledger, as the doctor checks them; those that are well in one word. */
  readonly checks: ReadonlyArray<Check>;
}

const SIGNS = { ok: "ok", warning: "warning", failed: "FAILED", skipped: "not checked" } as const;
const COLOURS = { ok: "green", warning: "yellow", failed: "red", skipped: "gray" } as const;

/** Words the status of a check. */
const checkStatus = (status: Check["status"]): string => styled(COLOURS[status], SIGNS[status]);

/** Answers whether everything is fine, in one line. */
const firstLine = ({ cameBack, checks, failed, inbox }: ShownOverview): string => {
  const are = (of: Check["status"]) => checks.filter(({ status }) => status === of);
  const items = inbox.reduce((sum, { count }) => sum + count, 0);
  const [wrong, warnings] = [are("failed").length, are("warning")];
  const parts = [
    items > 0 && `${counted(items, "thing")} ${items === 1 ? "needs" : "need"} a person.`,
    warnings.some(({ name }) => name === "sends") && "Sends are paused.",
    failed > 0 && `${counted(failed, "run")} failed.`,
    cameBack > 0 && `${counted(cameBack, "payout")} came back.`,
    wrong > 0 && `${counted(wrong, "check")} failed.`,
    warnings.length > 0 && `${counted(warnings.length, "warning")}.`,
  ];
  return parts.filter(Boolean).join(" ") || "Everything is fine.";
};

/** Prints everything at a glance. */
export const overviewText = (seen: ShownOverview): string => {
  const { cameBack, checks, failed, inbox, underWay } = seen;
  return [
    styled("bold", wrap(firstLine(seen))),
    "",
    table(checks.map(({ detail, name, status }) => [name, checkStatus(status), detail])),
    "",
    pairs(
      [
        ["inbox", inbox.length === 0 && "nothing is waiting for a person"],
        ["failed", `${counted(failed, "run")} in the last 24 hours, not retried`],
        ["came back", cameBack > 0 && `${counted(cameBack, "payout")} in the last 24 hours`],
        ["under way", joined([counted(underWay.payouts, "payout"), totals(underWay.money)], ", ")],
      ],
      "",
    ),
    ...section(
      "Waiting for a person",
      inbox.map(({ count, kind, money }) => [
        styled("yellow", KINDS[kind]),
        String(count),
        totals(money),
      ]),
    ),
    ...nextLines(seen.next),
  ].join("\n");
};

const remedyOf = ({ next, remedy }: Check): string | undefined =>
  next === undefined
    ? remedy && wrap(inFlags(remedy), "    ")
    : `    ${styled("cyan", commandOf(next))}`;

/** Prints each check with its finding and remedy. */
export const doctorText = ({ checks, isWell }: Diagnosis): string => {
  const width = Math.max(0, ...checks.map(({ name }) => columnsOf(name)));
  const count = (of: Check["status"]) => checks.filter(({ status }) => status === of).length;
  const warnings = count("warning") === 0 ? "" : `, ${counted(count("warning"), "warning")}`;
  return joinedLines([
    ...checks.flatMap((check) => [
      beside(`${pad(checkStatus(check.status), 13)}${pad(check.name, width)}  `, check.detail),
      remedyOf(check),
    ]),
    "",
    isWell
      ? `${warnings === "" ? "All checks passed" : "No check failed"}${warnings}.`
      : styled("red", `${count("failed")} of ${checks.length} checks failed${warnings}.`),
  ]);
};

const MOST = 20;

const listed = (ids: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...ids.slice(0, MOST).map((id) => `    ${id}`),
  ...(ids.length > MOST ? [`    … and ${ids.length - MOST} more`] : []),
];

const sendsText = (isPaused: boolean): string =>
  isPaused ? "Sends are paused." : "Sends are allowed.";

/** Words how a run of a type is started again. */
const startText = ({ type, workflowId }: RecoveryReport["unfinished"][number]): string => {
  const command = { payout: "pay", onboardCardholder: "onboard" }[type];
  const [, key] = /^(?:payout|onboardCardholder)\/(.+)$/.exec(workflowId) ?? [];
  const named = key === undefined ? ["--id", workflowId] : ["--key", key];
  return command === undefined
    ? `${workflowId}  (${type})`
    : plainCommand(command, "INPUT", ...named, ...byName());
};

/** Prints the findings and actions of a recovery. */
export const recoveryText = (found: RecoveryReport): string =>
  joinedLines([
    found.ledger.stopped === null
      ? sendsText(found.isPaused)
      : `Sends are stopped: ${found.ledger.stopped}`,
    `  ${counted(found.unknown, "write")} with an unknown outcome: checked against the service`,
    `  ${counted(found.taken.writes, "result")} and ${counted(found.waits, "wait")} that only Temporal remembers`,
    `  ${counted(found.taken.runs.length, "run")} that only Temporal remembers`,
    listed(found.taken.runs),
    `  ${counted(found.ends.length, "stop order")} that only Temporal remembers`,
    listed(found.ends),
    found.taken.others.length > 0 &&
      `  ${counted(found.taken.others.length, "result")} that the ledger has under another write: look them up`,
    listed(found.taken.others),
    `  ${counted(found.followed, "payout")} without a run: nothing to do, the tracker follows them`,
    `  ${counted(found.files.length, "file")} to pay or onboard again, each row under its id`,
    listed(found.files.map(({ file, id, rows }) => `${file}: ${counted(rows, "row")} of ${id}`)),
    found.repairs.length > 0 &&
      `  ${counted(found.repairs.length, "repair")} to cancel: then retry what still fails, as another repair`,
    listed(found.repairs.map(({ id }) => commandOf({ action: "cancel", workflowId: id }))),
    `  ${counted(found.unfinished.length, "unfinished run")} to start again with the same id and input`,
    listed(found.unfinished.map(startText)),
    found.unfinished.length > 0 &&
      "    If one is refused as a likely duplicate, add --not-a-duplicate WHY.",
    found.mark === undefined
      ? `Nothing was changed. To recover, add: ${["--yes", "--reason", "WHY", ...byName()].join(" ")}`
      : `Recovered: epoch ${found.mark.epoch}. ${sendsText(found.isPaused)}`,
  ]);
