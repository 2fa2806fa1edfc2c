/**
 * The search attributes that the workflows set, with their types; every local server registers them.
 * Written down here too, because the workflows' tests depend on this package.
 */
export const searchAttributes = {
  PaymentStage: "Keyword",
  PaymentIds: "KeywordList",
  PaymentCurrency: "Keyword",
  PaymentAwaits: "KeywordList",
  PaymentBatch: "Keyword",
  PaymentAccount: "Keyword",
  PaymentInDoubt: "Keyword",
} as const;

/** The arguments of `temporal server start-dev` that register them. */
export const searchAttributeArguments = (): string[] =>
  Object.entries(searchAttributes).flatMap(([name, type]) => [
    "--search-attribute",
    `${name}=${type}`,
  ]);
