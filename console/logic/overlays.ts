import { formatMetric } from './numbers.ts'
import type { Token } from './chat.ts'

export const overlays = ['none', 'log-probability', 'surprise'] as const
export type OverlayName = (typeof overlays)[number]

/** A token that the model gave this log-probability is coloured fully. */
const fullLogprob = -4

/** The shade of a token: improbable tokens are orange, in `surprise` the probable ones are blue too. */
export function shade(name: OverlayName, { logprob }: Token): number {
  if (logprob === undefined || name === 'none') return 0
  const unlikely = Math.min(1, logprob / fullLogprob)
  return name === 'surprise' ? 1 - 2 * unlikely : 0 - unlikely
}

/** Says what a token's shade means. */
export function explainToken({ logprob, text }: Token): string {
  if (logprob === undefined) return `${JSON.stringify(text)}: no log-probability was sent with it`
  const share = formatMetric(Math.exp(logprob) * 100)
  return `${JSON.stringify(text)}\nlog-probability at sampling ${formatMetric(logprob)}\nprobability ${share} %`
}
