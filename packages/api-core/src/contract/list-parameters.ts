/** Wire names of the filters of lists, unless a setting overrides them. */
export const parameters = {
  listPayoutsParameters: {
    date_type: "date_type",
    scope: "scope",
    short_reference_id: "short_reference_id",
    status: "status",
    start: "start_time",
    end: "end_time",
  },
  listTransactionsParameters: {
    page_num: "page_num",
    page_size: "page_size",
    scope: "scope",
    short_reference_id: "short_reference_id",
    transaction_type: "transaction_type",
    transaction_status: "transaction_status",
    date_type: "date_type",
    start: "start_time",
    end: "end_time",
  },
  listCardholdersParameters: {
    direct_account_id: "direct_account_id",
    card_account_id: "card_account_id",
    card_holder_status: "card_holder_status",
    name: "name",
  },
};
