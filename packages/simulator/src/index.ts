export { FAULT_KINDS, type FaultKind, type FaultOrder, type OrderedFault } from "./faults/fault.ts";
export type { Ledger } from "./ledger/records.ts";
export type { Verification } from "./service/cardholders.ts";
export { Temperament } from "./temperament/temperament.ts";
export { TEMPERAMENTS, type TemperamentField } from "./temperament/temperaments.ts";
export type { SimulatorOptions } from "./settings.ts";
export { type Simulator, startSimulator } from "./start-simulator.ts";
