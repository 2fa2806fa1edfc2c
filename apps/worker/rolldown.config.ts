import { appBundle } from "@durable-payments/tools/build";

export default appBundle("worker");
