/** What every command's exit code means. */
export const EXIT_CODES_HELP = `Exit codes: 0 done, 1 the run failed, 2 bad input, 3 cannot connect,
  130 interrupted.`;

/** How runs are kept from being started twice. */
export const SAME_ID_HELP = (prefix: string): string =>
  `The same id never starts a second run: it reports the run that exists, also
  when that one has ended. Without --id the id is ${prefix}-<hash of the input>,
  options left out: the same file twice is the same run. To do the same once
  more on purpose, give it another --id.`;
