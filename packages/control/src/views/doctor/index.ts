export type { Check } from "./check.ts";
export { diagnose, type Diagnosis, type DoctorSettings } from "./doctor.ts";
export { testWebhook } from "./doctor.ts";
