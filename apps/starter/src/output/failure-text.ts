import { isRecord } from "@durable-payments/api-core/values";
import type { Failure } from "@durable-payments/operations/history";
import { fieldRows } from "./text.ts";

type Row = readonly [name: string, value: string];

/** What the failure of an operation means for the money. */
const meaningOf = (operation: string, carriedOut: unknown): ReadonlyArray<Row> => {
  if (carriedOut === "no") return [["meaning", `nothing was carried out by ${operation}`]];
  return carriedOut === "unknown"
    ? [["meaning", `nobody knows whether ${operation} was carried out`]]
    : [];
};

const detailRows = (details: unknown, message: string): ReadonlyArray<Row> => {
  if (!isRecord(details)) return details === undefined ? [] : fieldRows({ details });
  const { carriedOut, operation, reason, message: again, ...rest } = details;
  return [
    ...(typeof operation === "string" ? meaningOf(operation, carriedOut) : []),
    ...fieldRows({
      ...rest,
      // What the message says already is not said twice.
      ...(typeof reason === "string" && message.includes(reason) ? {} : { reason }),
      ...(typeof again === "string" && message.includes(again) ? {} : { message: again }),
    }).filter(([, value]) => value !== "–"),
  ];
};

/** Why a run failed, as rows for a person: in words first, then what is known beside. */
export const failureRows = ({ cause, details, message, type }: Failure): ReadonlyArray<Row> => [
  ["message", message],
  ...detailRows(details, message),
  ["type", type],
  ...(cause === undefined
    ? []
    : failureRows(cause)
        .filter(([name, value]) => name !== "message" || !message.includes(value))
        .map(([name, value]) => [`cause: ${name}`, value] as const)),
];
