import { utc } from "./utc.ts";

/** By what a list is compared with what was sent, by operation. */
const COMPARED: Readonly<Record<string, string>> = {
  createPayout: "beneficiary, amount, currency and reference",
  createCardholder: "first and last name",
};

/** A date may be any time of its day, and a time without offset of any zone: these say nothing. */
const WITH_OFFSET = /T.*(?:Z|[+-]\d\d:?\d\d)$/i;

/** Times that a list shows may be cut to the second. */
const toTheSecond = (time: number): number => Math.floor(time / 1000) * 1000;

/**
 * Word that a step took something of the service's list that nothing but its fields says is what the step sent.
 *
 * @param operation that was sent.
 * @param times `createdAt` as the service shows it, where it does; `sentFrom`: from when on it may have been sent,
 *   milliseconds since 1970.
 * @returns the text, for a person: it says where the service has it created before it was sent.
 */
export const likenessText = (
  operation: string,
  { createdAt, sentFrom }: { readonly createdAt: string | undefined; readonly sentFrom: number },
): string => {
  const found = `found in the list by ${COMPARED[operation] ?? "its fields"}, not by its key`;
  const created = WITH_OFFSET.test(createdAt ?? "") ? Date.parse(createdAt ?? "") : NaN;
  return created < toTheSecond(sentFrom)
    ? `${found}; created ${utc(created)} by the service's clock, before this run first sent it (${utc(sentFrom)}): it may have been made by somebody else`
    : found;
};
