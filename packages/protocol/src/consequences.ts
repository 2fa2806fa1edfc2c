import type { HumanTask, HumanTaskAction } from "./human-task.ts";
import { sendingOf } from "./steps.ts";
import { utc } from "./utc.ts";
import { textAt } from "./values.ts";

/** A question, as far as the consequences of its answers depend on it. */
type Asked = Pick<HumanTask, "actions" | "inDoubtSince" | "operation" | "sent" | "toSend">;

/** What each answer means where the question is not known: for a help text. */
export const answerMeanings = {
  found: "It was carried out, as this id: nothing is sent",
  resend: "It was not: send it again (paid twice if it was)",
  amend: "Send it with these fields changed (JSON)",
  abandon: "End the run: what was sent stays, nothing more is sent",
} as const satisfies Readonly<Record<HumanTaskAction, string>>;

const moneyIn = (request: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const limit = textAt(request, "card_limit");
  // Cards are in USD only.
  if (limit !== undefined) return `${limit} USD`;
  const amount = textAt(request, "amount");
  return amount === undefined ? undefined : `${amount} ${textAt(request, "currency") ?? ""}`.trim();
};

const ofResend = ({ inDoubtSince, operation, sent, toSend }: Asked): string => {
  const sending = sendingOf(operation);
  if (toSend !== undefined) {
    const [now, before] = [moneyIn(toSend) ?? "it", moneyIn(sent) ?? "it"];
    const both = sending?.makes === "payout" ? "pays both" : "both stand";
    return `sends ${now} beside what was sent before (${before}): ${both} if that was carried out`;
  }
  return inDoubtSince === undefined
    ? "sends it again: as far as is known, nothing of it stands"
    : `sends it again: ${sending?.sentTwice ?? "does it twice if it was carried out"}`;
};

/**
 * Say what each answer to a question does to the money.
 *
 * @param asked the question: what was sent, and what can be decided.
 * @param undoes what the run undoes when it fails, such as `remove the cardholder`.
 * @returns a sentence for each answer that is possible.
 */
export const consequencesOf = (
  asked: Asked,
  undoes: ReadonlyArray<string> = [],
): HumanTask["consequences"] => {
  const made = sendingOf(asked.operation)?.makes ?? "result";
  const stays =
    asked.inDoubtSince === undefined
      ? "whatever was sent stays"
      : "whatever was sent stays, and is listed as in doubt until it is settled";
  const given =
    sendingOf(asked.operation)?.isNowhereShown === true
      ? `; the service has no read of a ${made}: its id is taken as you give it, not confirmed`
      : "";
  const undone = undoes.length === 0 ? "" : `; then it undoes: ${undoes.join(", ")}`;
  const all: Readonly<Record<HumanTaskAction, string>> = {
    found: `the run goes on with that ${made}, nothing is sent${given}`,
    resend: ofResend(asked),
    amend: "sends the amended request: as far as is known, nothing of the one before stands",
    abandon: `the run fails, nothing more is sent; ${stays}${undone}`,
  };
  return Object.fromEntries(asked.actions.map((action) => [action, all[action]]));
};

/** What a second person's decision does to the money. */
export const approvalConsequences = {
  approve: "the run goes on, and sends exactly this",
  reject: "the run fails, and this is not sent",
} as const;

/** What it does to the money to say what became of a send of an ended run. */
export const settlementConsequences = {
  found: "found: a retry goes on with it, and sends nothing of it again",
  notCarriedOut: "not carried out: a retry sends it again, so that it is made twice if it was",
  retry:
    "retry: it finds out by the journal and the service's list what became of it, as far as they show it",
} as const;

/** The same of a run that no retry goes on with: it has completed, say. */
export const finalSettlementConsequences = {
  found: "found: it counts as carried out, and is in doubt no longer",
  notCarriedOut:
    "not carried out: it counts as not made, and is in doubt no longer; where it is still owed, pay it by a new run",
} as const;

/**
 * Say what was found out about what a run asks about: how the service's list was read, until when, and
 * since when it may have been sent.
 *
 * @param task what is asked.
 * @returns sentences, for a person.
 */
export const evidenceOf = ({
  candidates,
  inDoubtSince,
  listRead,
  operation,
}: Pick<
  HumanTask,
  "candidates" | "inDoubtSince" | "listRead" | "operation"
>): ReadonlyArray<string> => {
  const sending = sendingOf(operation);
  const read =
    listRead === undefined
      ? undefined
      : `The service's list was read ${listRead.times === 1 ? "once" : `${listRead.times} times`}, until ${utc(listRead.until)}: ${candidates.length === 0 ? "nothing in it may be it" : `${candidates.length} may be it`}.`;
  return [
    ...(inDoubtSince === undefined ? [] : [`It may have been sent since ${utc(inDoubtSince)}.`]),
    ...(read === undefined ? [] : [read]),
    ...(inDoubtSince !== undefined && sending !== undefined && sending.reconciledBy === undefined
      ? [`The service has no list in which a ${sending.makes} could be looked up.`]
      : []),
  ];
};
