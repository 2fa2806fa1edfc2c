import type { CancelRequest, SettledDoubt } from "@durable-payments/operations/history";
import { utc } from "@durable-payments/protocol";
import { wrap } from "./text.ts";

/** When and by whom a run was started, and when it was retried, as rows of what is known of it. */
export const startedRows = ({
  firstStartedAt,
  startedAt,
  startedBy,
}: {
  readonly firstStartedAt: string;
  readonly startedAt: string;
  readonly startedBy: string | null;
}): ReadonlyArray<readonly [string, string]> => [
  ["started", `${utc(firstStartedAt)}${startedBy === null ? "" : ` by ${startedBy}`}`],
  ...(utc(firstStartedAt) === utc(startedAt) ? [] : [["retried", utc(startedAt)] as const]),
];

/** Who asked a run to end that goes on, as a row of what is known of it. */
export const askedToEndRow = ({ at, by, reason }: CancelRequest): readonly [string, string] => [
  "asked to end",
  `${utc(at)} by ${by}${reason === null ? "" : `: ${reason}`}`,
];

/** What a person has found out about a step that was in doubt. */
export const settledText = ({ at, by, found, reason, step }: SettledDoubt): string => {
  const ids = Object.entries(found ?? {}).map(([name, id]) => ` ${name} ${id}`);
  const what = found === null ? "not carried out" : `carried out:${ids.join(",")}`;
  return wrap(`${step} was ${what}; settled by ${by}, ${utc(at)}: ${reason}`, "  ");
};
