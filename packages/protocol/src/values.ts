import { isRecord, lookUp, messageOf } from "@durable-payments/client/values";

/** Changes a JSON value by a merge patch (RFC 7396): null takes a field away. */
export const mergePatch = (value: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const fields = isRecord(value) ? value : {};
  const changed = Object.entries(patch).flatMap(([name, change]) =>
    change === null ? [] : [[name, mergePatch(lookUp(fields, name), change)] as const],
  );
  const kept = Object.entries(fields).filter(([name]) => patch[name] !== null);
  return Object.fromEntries([...kept, ...changed]);
};

/** Returns the path of each field that a merge patch changes: `payout.amount`. */
export const patchedFields = (patch: unknown, within = ""): ReadonlyArray<string> =>
  isRecord(patch)
    ? Object.entries(patch).flatMap(([name, change]) =>
        patchedFields(change, within === "" ? name : `${within}.${name}`),
      )
    : [within];

/** gRPC's code NOT_FOUND. */
const NOT_FOUND = 5;

/** Fields that each error of gRPC has. */
interface GrpcFields {
  readonly code?: unknown;
  readonly metadata?: { readonly get: (name: string) => unknown };
}

/** Returns the bytes by which gRPC names what was not found, as text; undefined for any other error. */
const notFoundOf = (error: unknown): string | undefined => {
  const { code, metadata }: GrpcFields = error instanceof Error && "code" in error ? error : {};
  return code === NOT_FOUND ? String(metadata?.get("grpc-status-details-bin")) : undefined;
};

/** Returns whether Temporal has no such namespace, at least at the moment: nothing is known of its runs. */
export const isNamespaceMissing = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "NamespaceNotFoundError" ||
    notFoundOf(error)?.includes("NamespaceNotFoundFailure") === true);

/** Returns whether a call of Temporal failed because the run that it names does not exist. */
export const isNotFound = (error: unknown): boolean =>
  notFoundOf(error) !== undefined && !isNamespaceMissing(error);

/** Returns Temporal's message about a failed call, without gRPC's names and numbers and the SDK's wrapping. */
export const temporalReason = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const details = isRecord(cause) ? cause["details"] : undefined;
  if (typeof details === "string" && details !== "") return details;
  return messageOf(cause instanceof Error ? cause : error).replace(/^\d+ [A-Z_]+: /, "");
};

/** A JSON object, as it crosses Temporal. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Writes a point in time to the second, in UTC: `2026-11-21 03:42:04 UTC`. */
export const utc = (at: Date | number | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** Quotes an argument for a shell. */
export const shellQuoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

/** Quotes a text for a visibility query. */
export const queryText = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** Writes a time, in milliseconds since 1970, for a visibility query. */
export const queryTime = (time: number): string => queryText(new Date(time).toISOString());

/** Writes texts as the list of a visibility query's `IN`. */
export const queryTexts = (texts: Iterable<string>): string =>
  `(${[...texts].map(queryText).join(", ")})`;

/** Returns the address of a page about a workflow id, or one of its runs, in Temporal's Web UI. */
export const webUiLink = (
  webUi: string,
  namespace: string,
  workflowId: string,
  runId?: string,
): string => {
  const page = ["namespaces", namespace, "workflows", workflowId, ...(runId ? [runId] : [])];
  return [webUi.replace(/\/+$/, ""), ...page.map(encodeURIComponent)].join("/");
};

/** Calls a function for each item, `most` at a time. */
export const atOnce = async <A, B>(
  items: ReadonlyArray<A>,
  use: (item: A) => Promise<B>,
  most = 16,
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = [];
  for (let from = 0; from < items.length; from += most) {
    results.push(...(await Promise.all(items.slice(from, from + most).map(use))));
  }
  return results;
};
