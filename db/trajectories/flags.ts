/** What a trajectory's row in the index is marked with. */
export const trajectoryFlags = [
  // Nothing of it can be trained on: no sampled choice has logprobs.
  'no_logprobs',
  // It is as good as its group: training passes it over.
  'zero_advantage',
  // A sampled choice ended at its length limit.
  'truncated',
  'tool_calls',
  'additional_histories',
] as const

export type TrajectoryFlag = (typeof trajectoryFlags)[number]
