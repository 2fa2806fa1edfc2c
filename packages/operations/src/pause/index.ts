export { pause, type Paused, resume, type Resumed } from "./pause.ts";
