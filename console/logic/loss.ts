import { formatMetric, formatSigned } from './numbers.ts'

/** What the loss did to one token (docs/token-statistics.md). */
export interface TokenStatistics {
  oldLogprob: number | null
  newLogprob: number | null
  ratio: number | null
  coefficient: number | null
  entropy: number | null
  isMasked: boolean
  isClippedLow: boolean
  isClippedHigh: boolean
  isDropped: boolean
}

/** The settings of a job that its loss has. */
export interface Loss {
  isPpo: boolean
  low: number
  high: number
  level: string
  tau: number | undefined
  cap: number | undefined
  klPenalty: number
  isPrecalculated: boolean
}

/** Reads the loss from the settings that the request of a job gave. The others have their defaults. */
export function readLoss(given: Readonly<Record<string, unknown>>): Loss {
  const number = (name: string) => (typeof given[name] === 'number' ? given[name] : undefined)
  const isPpo = given['ppo'] === true
  const epsilon = number('epsilon') ?? (isPpo ? 0.2 : 1)
  const level = given['importance_sampling_level']
  return {
    isPpo,
    low: 1 - epsilon,
    high: 1 + (number('epsilon_high') ?? (isPpo ? epsilon : 4)),
    level: typeof level === 'string' ? level : 'token',
    tau: (number('kimi_k2_tau') ?? number('modelfamily_k2_tau')) || undefined,
    cap: number('truncated_importance_sampling') || undefined,
    klPenalty: number('kl_penalty_coef') ?? 0,
    isPrecalculated: given['precalculate_logprobs'] === true,
  }
}

/** The loss of a token as a formula. r is its ratio, A its advantage, w its weight, p its probability. */
export function writeFormula({ isPpo, low, high, cap }: Loss): string {
  const bounds = `${formatMetric(low)}, ${formatMetric(high)}`
  const body = isPpo ? `−min(r × A, clip(r, ${bounds}) × A)` : `−clip(r, ${bounds}) × A × log p`
  return `${body} × w${cap === undefined ? '' : ` × min(r, ${formatMetric(cap)})`}`
}

const clip = (ratio: number, { low, high }: Loss) => Math.min(high, Math.max(low, ratio))

/**
 * The advantage of a token times its weight, divided by the trained tokens of the step: what its coefficient has besides
 * the ratio. Undefined if the coefficient does not show it.
 */
export function findEffect({ ratio, coefficient }: TokenStatistics, loss: Loss): number | undefined {
  if (ratio === null || coefficient === null) return undefined
  // With these, a coefficient has parts of other tokens, or a factor that nothing records.
  if (loss.isPpo && loss.level !== 'token') return undefined
  if (loss.cap !== undefined && loss.isPrecalculated) return undefined
  const factor = (loss.isPpo ? ratio : clip(ratio, loss)) * (loss.cap === undefined ? 1 : Math.min(ratio, loss.cap))
  return factor === 0 ? undefined : -coefficient / factor || 0
}

/** A part of the formula, with a token's value of it and what it means. */
export interface Term {
  name: string
  value: string
  meaning: string
}

const ratioOf: Record<string, string> = {
  token: 'e^(new − old): how much likelier the token had become since it was sampled',
  sequence: "e^(mean of new − old): that of the token's whole answer",
  average: "the mean of the token's own ratio and that of its whole answer",
  geometric_average: "the geometric mean of the token's own ratio and that of its whole answer",
}

/** The formula's parts with the numbers of a token, in the order in which they are computed. */
export function explainLoss(token: TokenStatistics, loss: Loss): Term[] {
  if (token.isDropped) return []
  const effect = findEffect(token, loss)
  const changes = [
    loss.tau !== undefined && `less kimi_k2_tau ${formatMetric(loss.tau)} × (new − old)`,
    loss.klPenalty !== 0 && `with the KL penalty ${formatMetric(loss.klPenalty)}`,
  ].filter((change) => change !== false)
  return [
    {
      name: 'old log p',
      value: formatMetric(token.oldLogprob),
      meaning: loss.isPrecalculated ? "the trainer's, before the job" : 'at sampling',
    },
    { name: 'new log p', value: formatMetric(token.newLogprob), meaning: 'in this gradient step, before its update' },
    { name: 'r', value: formatMetric(token.ratio), meaning: ratioOf[loss.level] ?? ratioOf['token']! },
    {
      name: 'clip(r)',
      value: token.ratio === null ? '–' : formatMetric(clip(token.ratio, loss)),
      meaning: sayClip(token),
    },
    {
      name: 'A × w ÷ n',
      value: effect === undefined ? '–' : formatSigned(effect),
      meaning: ['advantage × weight, divided by the trained tokens of the step', ...changes].join(', '),
    },
    {
      name: 'coefficient',
      value: formatSigned(token.coefficient),
      meaning: 'the derivative of the loss by log p, which the gradient step followed',
    },
  ]
}

function sayClip({ isMasked, isClippedLow, isClippedHigh }: TokenStatistics): string {
  const side = isClippedHigh ? 'above the bounds' : isClippedLow ? 'below the bounds' : 'within the bounds'
  return isMasked ? `the ratio was ${side}, and mask_prob_ratio made it 0` : `the ratio is ${side}`
}

/** What training did to a token, in one sentence. */
export function judgeToken({ coefficient, isDropped }: TokenStatistics): string {
  if (isDropped) return 'Not trained on: its history has more tokens than the trainer takes.'
  if (coefficient === null) return 'Its coefficient is not known.'
  if (coefficient === 0) return 'Training left this token as it was.'
  return coefficient < 0 ? 'Training made this token more likely.' : 'Training made this token less likely.'
}
