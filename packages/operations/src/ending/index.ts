export { cancel, type CancelOptions, type Cancelled } from "./cancel.ts";
