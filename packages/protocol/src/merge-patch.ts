import { isRecord, lookUp } from "@durable-payments/api-core/values";

/**
 * Change a JSON value by a merge patch (RFC 7396): null takes a field away.
 *
 * @param value what is changed.
 * @param patch only the fields to change, in the same shape.
 * @returns the value, changed.
 */
export const mergePatch = (value: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const fields = isRecord(value) ? value : {};
  const changed = Object.entries(patch).flatMap(([name, change]) =>
    change === null ? [] : [[name, mergePatch(lookUp(fields, name), change)] as const],
  );
  const kept = Object.entries(fields).filter(([name]) => patch[name] !== null);
  return Object.fromEntries([...kept, ...changed]);
};

/**
 * Name the fields that a merge patch changes: `payout.amount`.
 *
 * @param patch the patch.
 * @returns the path of each field, with points.
 */
export const patchedFields = (patch: unknown, within = ""): ReadonlyArray<string> =>
  isRecord(patch)
    ? Object.entries(patch).flatMap(([name, change]) =>
        patchedFields(change, within === "" ? name : `${within}.${name}`),
      )
    : [within];
