/** How much is measured. */
export interface Size {
  rounds: number
  /** Requests of one contestant in one round: replies in one piece, 16 streams at a time, one stream at a time. */
  plain: number
  streams: number
  singleStreams: number
  /** Times as many before the first round: V8 compiles what is hot. */
  warmUp: number
  /** Rest before memory is read for the first time: V8 gives back what only the start needed. */
  restMs: number
  openStreams: number
  openMs: number
  /** What a contestant does behind its answers should not fall on the next one. */
  settleMs: number
}

export const sizes = {
  full: {
    rounds: 9,
    plain: 2_000,
    streams: 160,
    singleStreams: 20,
    warmUp: 0.5,
    restMs: 20_000,
    openStreams: 1_000,
    openMs: 5_000,
    settleMs: 100,
  },
  // About how fast it is, in a minute.
  quick: {
    rounds: 1,
    plain: 200,
    streams: 32,
    singleStreams: 4,
    warmUp: 3,
    restMs: 2_000,
    openStreams: 1_000,
    openMs: 1_000,
    settleMs: 50,
  },
} as const satisfies Record<string, Size>
