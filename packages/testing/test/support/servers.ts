// Run by Vitest before each test file: the servers that `npm run setup` has installed, where a user's are downloaded.
import { temporalServerVariables } from "@durable-payments/tools/testing";

Object.assign(process.env, temporalServerVariables());
