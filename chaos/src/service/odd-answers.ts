import { isRecord } from "@durable-payments/client/values";
import { Random } from "../plan/random.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How answers differ from those of the documented service, beyond the simulator's temperament; shares from 0 to 1. */
export interface OddAnswers {
  /** Writes times in this zone, in minutes east of UTC. */
  readonly zoneMinutes?: number;
  /** Shown statuses by true ones. */
  readonly statuses?: Readonly<Record<string, string>>;
  /** Further fields in the answer to a creation: omitted, or null. */
  readonly writeAnswers?: "ids" | "nulls";
  readonly nullLists?: number;
  /** Share of the list requests whose page lacks a row that `total_item` counts. */
  readonly omittedRows?: number;
  /** Share of the list requests in which a row is listed twice. */
  readonly duplicateRows?: number;
  /** Share of the rows, always the same rows, of which all but the id and the status is null. */
  readonly oddRows?: number;
}

const WRITES = /^(create|withdraw)/;

const changed = (fields: Fields, change: (value: unknown, name: string, at: number) => unknown) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value], at) => [name, change(value, name, at)]),
  );

const two = (count: number) => String(count).padStart(2, "0");

const inZone = (time: string, minutes: number): string => {
  // An unset time is written as the document writes it.
  if (!time.startsWith("20")) return time;
  const local = new Date(Date.parse(time) + minutes * 60_000).toISOString().slice(0, 19);
  const size = Math.abs(minutes);
  return `${local}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
};

/**
 * Makes the simulator's option `rewrite`: answers in every form that the document leaves open.
 *
 * @param seed which rows are odd, and which lists
 */
export const rewriteAs = (odd: OddAnswers, seed: number) => {
  const random = new Random(seed, "odd answers");
  const { duplicateRows = 0, nullLists = 0, oddRows = 0, omittedRows = 0 } = odd;
  const { statuses = {}, writeAnswers, zoneMinutes } = odd;

  const resource = (fields: Fields) =>
    changed(fields, (value, name) => {
      if (typeof value !== "string") return value;
      if (name.endsWith("status")) return statuses[value] ?? value;
      return zoneMinutes !== undefined && name.endsWith("_time")
        ? inZone(value, zoneMinutes)
        : value;
    });
  // The contract's rows and answers begin with their id.
  const row = (fields: unknown): unknown => {
    if (!isRecord(fields)) return fields;
    const isOdd = new Random(seed, `odd row ${String(Object.values(fields)[0])}`).chance(oddRows);
    return changed(resource(fields), (value, name, at) =>
      isOdd && at > 0 && !name.endsWith("status") ? null : value,
    );
  };
  const list = ({ item_list: _, ...counts }: Fields, rows: ReadonlyArray<unknown>): Fields => {
    const at = random.int(0, Math.max(0, rows.length - 1));
    let shown = rows.map(row);
    if (random.chance(duplicateRows)) shown = [...shown.slice(0, at + 1), ...shown.slice(at)];
    if (random.chance(omittedRows)) shown = shown.toSpliced(at, 1);
    return {
      ...counts,
      item_list: random.chance(nullLists) ? null : shown,
    };
  };
  const write = (fields: Fields): Fields => {
    if (writeAnswers === "ids") return Object.fromEntries(Object.entries(fields).slice(0, 1));
    const isNull = writeAnswers === "nulls";
    return changed(resource(fields), (value, _, at) => (isNull && at > 0 ? null : value));
  };
  return (operation: string, body: unknown): unknown => {
    if (!isRecord(body) || !isRecord(body["data"])) return body;
    const { data } = body;
    const rows: unknown = data["item_list"];
    if (Array.isArray(rows)) return { ...body, data: list(data, rows) };
    return { ...body, data: WRITES.test(operation) ? write(data) : resource(data) };
  };
};
