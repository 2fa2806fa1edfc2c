const unchanged = (...names: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, name]));

const bounds = { start: "start_time", end: "end_time" };

/** Wire names of the filters of lists, unless a setting overrides them. */
export const parameters = {
  listPayoutsParameters: {
    ...unchanged("date_type", "scope", "short_reference_id", "status"),
    ...bounds,
  },
  listTransactionsParameters: {
    ...unchanged("page_num", "page_size", "scope", "short_reference_id"),
    ...unchanged("transaction_type", "transaction_status", "date_type"),
    ...bounds,
  },
  listCardholdersParameters: unchanged(
    "direct_account_id",
    "card_account_id",
    "card_holder_status",
    "name",
  ),
};
