/** The flags of a trajectory in the index. */
export const trajectoryFlags = [
  // Nothing can be trained on: no sampled choice has logprobs.
  'no_logprobs',
  // It has the average reward of its group, so training skips it.
  'zero_advantage',
  // A sampled choice ended at its length limit.
  'truncated',
  'tool_calls',
  'additional_histories',
  // Its client captured the exchanges with the model, and did not write them as messages.
  'captured',
] as const

export type TrajectoryFlag = (typeof trajectoryFlags)[number]
