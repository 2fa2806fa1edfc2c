import type { CancelRequest, SettledDoubt } from "@durable-payments/operations/history";
import { utc } from "@durable-payments/protocol";
import { wrap } from "./text.ts";

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
