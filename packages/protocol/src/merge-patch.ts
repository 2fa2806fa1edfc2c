import { isRecord, lookUp } from "@durable-payments/api-core/values";

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
