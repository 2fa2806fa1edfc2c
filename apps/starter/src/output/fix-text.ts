import type { NamespaceFix } from "@durable-payments/operations/doctor";
import { wrapDeeper } from "./text.ts";

/** Where it is registered. */
interface Place {
  readonly address: string;
  readonly namespace: string;
}

const listed = (attributes: NamespaceFix["missing"]): string =>
  attributes.map(({ name, type }) => `${name} (${type})`).join(", ");

const placeText = ({ address, namespace }: Place): string =>
  `the namespace "${namespace}" of ${address}`;

/** What would be registered, for the question, on one line. */
export const fixQuestion = (missing: NamespaceFix["missing"], place: Place): string =>
  `Register the search attributes ${listed(missing)} in ${placeText(place)}?`;

/** What was registered. */
export const fixText = (registered: NamespaceFix["registered"], place: Place): string =>
  wrapDeeper(
    registered.length === 0
      ? `Nothing to do: ${placeText(place)} has every search attribute.`
      : `Registered the search attributes ${listed(registered)} in ${placeText(place)}. Workers can start there now.`,
  );
