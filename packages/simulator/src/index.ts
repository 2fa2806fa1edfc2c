export { FAULT_KINDS, type FaultKind, type FaultOrder, type OrderedFault } from "./http/faults.ts";
export { Temperament } from "./http/temperament.ts";
export type { Verification } from "./model/cards.ts";
export type { ServiceBooks } from "./model/records.ts";
export type { SimulatorOptions } from "./settings.ts";
export { type Simulator, startSimulator } from "./start-simulator.ts";
