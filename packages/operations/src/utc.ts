export { utc } from "@durable-payments/protocol";
