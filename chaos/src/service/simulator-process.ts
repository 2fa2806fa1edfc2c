/** The simulator of a campaign, in a process of its own, which is killed: node simulator-process.ts JSON */
import { type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import { type OddAnswers, rewriteAs } from "./odd-answers.ts";

/** The argument of the process. */
export interface SimulatorProcessOptions {
  readonly options: SimulatorOptions;
  readonly odd: OddAnswers;
  readonly seed: number;
}

// Written by `startSimulatorProcess`.
const { odd, options, seed } = JSON.parse(process.argv[2] ?? "") as SimulatorProcessOptions;
await startSimulator({ ...options, rewrite: rewriteAs(odd, seed) });
console.log(JSON.stringify({ ready: true }));
