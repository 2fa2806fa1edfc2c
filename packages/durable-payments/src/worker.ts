/**
 * Runs payments in a worker of your own.
 *
 * @module durable-payments/worker
 */
export * from "@durable-payments/plugin";
