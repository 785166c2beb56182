/** The amounts of a measurement. */
export interface Size {
  rounds: number
  /**
   * The number of requests of one contestant in one round: complete replies, 16 concurrent streams, one stream at a
   * time.
   */
  plain: number
  streams: number
  singleStreams: number
  /** The warm-up before the first round, as a multiple of these numbers. It lets V8 compile hot code. */
  warmUp: number
  /** The pause before the first reading of memory. V8 returns memory that only the start needed. */
  restMs: number
  openStreams: number
  openMs: number
  /** The pause after a contestant, so that its background work does not affect the next one. */
  settleMs: number
}

export const sizes = {
  full: {
    rounds: 9,
    plain: 2_000,
    streams: 160,
    singleStreams: 20,
    warmUp: 3,
    restMs: 20_000,
    openStreams: 1_000,
    openMs: 5_000,
    settleMs: 100,
  },
  // A rough measurement in one minute.
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
