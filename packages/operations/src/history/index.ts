export { type Event, readCloseEvent, readEvents, type TimelineItem, timelineOf } from "./events.ts";
export { type Failure, readFailure } from "./failure.ts";
export { failureOf, masked } from "./masked.ts";
