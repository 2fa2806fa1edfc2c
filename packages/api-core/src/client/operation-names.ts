import type { ListName, OperationName } from "./operations.ts";

/** Every operation, and whether it answers page by page; the contract's types say the same. */
const isList: { readonly [Name in OperationName]: Name extends ListName ? true : false } = {
  ping: false,
  createBeneficiary: false,
  updateBeneficiary: false,
  retrieveBeneficiary: false,
  createPayout: false,
  listPayouts: true,
  retrievePayout: false,
  listPayers: false,
  createBalance: false,
  retrieveBalance: false,
  retrieveBalanceBankDetails: false,
  listTransactions: true,
  createCardholder: false,
  listCardholders: true,
  removeCardholder: false,
  createCard: false,
  withdrawFromCard: false,
  updateCard: false,
  cancelCard: false,
  freezeCard: false,
};

/**
 * The names of all operations but signIn, which the client calls by itself. They are known without
 * the contract, which is loaded with the first client.
 */
export const operationNames: ReadonlyArray<OperationName> =
  // The object's own keys.
  Object.keys(isList) as ReadonlyArray<OperationName>;

/** The names of the operations that answer page by page. */
export const listNames: ReadonlyArray<ListName> = operationNames.filter(
  (name): name is ListName => isList[name],
);
