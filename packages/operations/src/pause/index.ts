export { pause, type Paused, resume, type Resumed, scopeOf } from "./pause.ts";
