import { sendingOf, utc } from "@durable-payments/protocol";
import { commandLine } from "./command-line.ts";
import { wrap, wrapDeeper } from "./text.ts";
import { describePause } from "@durable-payments/operations/pause";
import type { LostRun, LostSend, Recovery } from "@durable-payments/operations/recovery";

const RECONCILIATIONS = {
  made: "made",
  notMade: "not made",
  unclear: "UNCLEAR",
} as const;

const sendText = (send: LostSend): string => {
  const { amount, begunAt, currency, ids, operation, service, step, reconciliation } = send;
  const money = amount === undefined ? "" : ` of ${amount} ${currency ?? ""}`;
  const known = Object.entries(ids)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ");
  return wrap(
    `${step}: ${operation}${money}, ${utc(begunAt)}: ${RECONCILIATIONS[reconciliation]}; ${service}${known === "" ? "" : ` (${known})`}`,
    "    ",
  );
};

/** Operations of a run that issues a card. */
const isOfCard = (operation: string): boolean => {
  const makes = sendingOf(operation)?.makes;
  return makes === "card" || makes === "cardholder";
};

/** The command by which it goes on, or that started it; its input is not in the journal. */
const goOn = ({ hasEndedRun, sends, workflowId }: LostRun): string => {
  if (hasEndedRun) return commandLine("runs", "retry", workflowId, "--by", "NAME");
  const isCard = sends.some(({ operation }) => isOfCard(operation));
  return commandLine(isCard ? "onboard" : "payout", "--file", "FILE", "--id", workflowId);
};

const lostText = (run: LostRun): ReadonlyArray<string> => [
  `  ${run.workflowId}: ${RECONCILIATIONS[run.reconciliation]}`,
  ...run.sends.map(sendText),
  `    ${goOn(run)}`,
];

/** The findings as a person reads them, with what is to be done. */
export const recoveryText = (recovery: Recovery, isReleased: boolean): string => {
  const { ended, isClear, lost, pause, running, since } = recovery;
  const unread = recovery.unrecorded.filter((run) => run.unread !== undefined);
  const unrecorded = recovery.unrecorded.filter((run) => run.unread === undefined);
  return [
    wrapDeeper(`Since ${utc(since)}, by the journal: ${recovery.journal}.`),
    `  ${running.length} runs go on by themselves; none sends again what was sent`,
    `  ${ended.length} runs have ended, as Temporal knows, too`,
    `  ${lost.length} runs are lost from Temporal`,
    `  ${unrecorded.length} runs sent what the journal does not have`,
    ...(lost.length === 0
      ? []
      : [
          "",
          wrap(
            "Lost from Temporal. Started again with the same id and the same input, or retried where an earlier run of the id is still known, each reads what was made and reconciles what is unclear; nothing is made twice, whatever the plan of the retry shows of the earlier run:",
          ),
          ...lost.flatMap(lostText),
        ]),
    ...(unrecorded.length === 0
      ? []
      : [
          "",
          wrap(
            "Sent, as Temporal knows, and not in this journal: it is not the one that their workers wrote, or was put back to an earlier state, too. Find that one before sends go on, or compare each with the service:",
          ),
          ...unrecorded.map(
            ({ steps, workflowId }) =>
              `  ${workflowId}: ${steps.map(({ step }) => step).join(", ")}`,
          ),
        ]),
    ...(unread.length === 0
      ? []
      : [
          "",
          wrap(
            "In no journal, and not readable, so that nobody knows what they sent. Compare each with the service, and find out who started it:",
          ),
          ...unread.map((run) => wrapDeeper(`  ${run.workflowId}: ${run.unread}`)),
        ]),
    "",
    isReleased
      ? "Sends go on."
      : wrapDeeper(
          `Sends are ${describePause(pause)}. ${isClear ? "Everything is clear." : "Not everything is clear: settle what stands above, start those that are unclear again."} To let sends go on: ${commandLine("resume", "--by", "NAME")}`,
        ),
  ].join("\n");
};
