import { startSimulator } from "durable-payments/testing";

const simulator = await startSimulator({ settleAfter: "20 days", verifyAfter: Infinity });
await simulator.addFault({ kind: "dropped", operation: "createPayout" });
// … requests to simulator.url with simulator.clientId and simulator.apiKey …
const { payouts, requests } = await simulator.state();
console.log(payouts.length, requests["createPayout"] ?? 0);
await simulator.stop();
