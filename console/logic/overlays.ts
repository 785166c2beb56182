import type { Token, Turn } from './chat.ts'
import { findEffect, type Loss, type TokenStatistics } from './loss.ts'
import { formatMetric, formatSigned } from './numbers.ts'

export const overlays = [
  'none',
  'advantage',
  'ratio',
  'old log-probability',
  'new log-probability',
  'entropy',
  'clipped',
  'masked',
] as const
export type OverlayName = (typeof overlays)[number]

/** A token of a conversation with its statistics, if there are some. */
export interface MeasuredToken {
  token: Token
  statistics: TokenStatistics | undefined
}

/** The columns of an answer about tokens that an overlay needs. */
export interface TokenColumns {
  gradient_step: (number | null)[]
  history_index: (number | null)[]
  token_id: (number | null)[]
  old_logprob: (number | null)[]
  new_logprob: (number | null)[]
  ratio: (number | null)[]
  coefficient: (number | null)[]
  entropy: (number | null)[]
  masked: boolean[]
  clipped_low: boolean[]
  clipped_high: boolean[]
  dropped: boolean[]
}

/** The rows of the conversation itself in the first gradient step that had it, in the order of its tokens. */
export function readStatistics(columns: TokenColumns): TokenStatistics[] {
  const own = columns.history_index.flatMap((history, row) => (history === 0 ? [row] : []))
  const step = columns.gradient_step[own[0] ?? 0]
  return own
    .filter((row) => columns.gradient_step[row] === step)
    .map((row) => ({
      oldLogprob: columns.old_logprob[row] ?? null,
      newLogprob: columns.new_logprob[row] ?? null,
      ratio: columns.ratio[row] ?? null,
      coefficient: columns.coefficient[row] ?? null,
      entropy: columns.entropy[row] ?? null,
      isMasked: columns.masked[row] === true,
      isClippedLow: columns.clipped_low[row] === true,
      isClippedHigh: columns.clipped_high[row] === true,
      isDropped: columns.dropped[row] === true,
    }))
}

/**
 * Joins the sampled tokens of a conversation with their statistics. The trainer trains on the tokens of all answers that
 * have log-probabilities, in this order. Undefined if their numbers differ, so that no token gets the numbers of another.
 * Turns that are not measured have none.
 */
export function measureTurns(
  turns: readonly Turn[],
  statistics: readonly TokenStatistics[],
  isMeasured: (turn: Turn) => boolean = () => true,
): (MeasuredToken[] | undefined)[] | undefined {
  const count = turns.filter(isMeasured).reduce((sum, { tokens }) => sum + (tokens?.length ?? 0), 0)
  if (statistics.length > 0 && statistics.length !== count) return undefined
  let next = 0
  return turns.map((turn) => {
    const measured = isMeasured(turn)
    return turn.tokens?.map((token) => ({ token, statistics: measured ? statistics[next++] : undefined }))
  })
}

/** How an overlay colours tokens: between -1 (orange) and 1 (blue), and what the ends of its scale are. */
export interface Scale {
  shade: (token: MeasuredToken) => number
  low: string
  middle: string
  high: string
  /** A token's value. */
  write: (token: MeasuredToken) => string
}

// A token of this log-probability is coloured fully.
const fullLogprob = 5
// A ratio of this size is coloured fully, or the greatest of the conversation.
const leastRatio = Math.log(1.2)

/** The scale of an overlay over the tokens of a conversation. */
export function makeScale(name: OverlayName, tokens: readonly MeasuredToken[], loss: Loss): Scale | undefined {
  const statisticsOf = (token: MeasuredToken) => token.statistics
  if (name === 'none') return undefined
  if (name === 'advantage') {
    const read = ({ statistics }: MeasuredToken) => statistics && findEffect(statistics, loss)
    const most = greatest(tokens.map(read)) || 1
    return {
      shade: (token) => (read(token) ?? 0) / most,
      low: formatSigned(-most),
      middle: '0',
      high: formatSigned(most),
      write: (token) => formatSigned(read(token) ?? null),
    }
  }
  if (name === 'ratio') {
    const read = (token: MeasuredToken) => logOf(statisticsOf(token)?.ratio)
    const most = Math.max(leastRatio, greatest(tokens.map(read)))
    return {
      shade: (token) => (read(token) ?? 0) / most,
      low: formatMetric(Math.exp(-most)),
      middle: '1',
      high: formatMetric(Math.exp(most)),
      write: (token) => formatMetric(statisticsOf(token)?.ratio),
    }
  }
  if (name === 'entropy') {
    const most = greatest(tokens.map((token) => statisticsOf(token)?.entropy)) || 1
    return {
      shade: (token) => (statisticsOf(token)?.entropy ?? 0) / most,
      low: '',
      middle: '0 nats: certain',
      high: `${formatMetric(most)} nats`,
      write: (token) => `${formatMetric(statisticsOf(token)?.entropy)} nats`,
    }
  }
  if (name === 'clipped') return ofFlags(sideOf, 'below the bounds', 'above the bounds')
  if (name === 'masked') return ofFlags((token) => (token?.isMasked === true ? -1 : 0), 'masked', '')
  const read = name === 'old log-probability' ? oldLogprobOf : (token: MeasuredToken) => token.statistics?.newLogprob
  return {
    shade: (token) => Math.max(-1, Math.min(0, (read(token) ?? 0) / fullLogprob)),
    low: `−${fullLogprob} or less: unlikely`,
    middle: '0: certain',
    high: '',
    write: (token) => formatMetric(read(token)),
  }
}

/** The scale of an answer that nothing was learned from: how likely its tokens were, coloured or not. */
export function makeSampledScale(isColoured: boolean): Scale {
  return {
    shade: ({ token }) => (isColoured ? Math.max(-1, Math.min(0, (token.logprob ?? 0) / fullLogprob)) : 0),
    low: `−${fullLogprob} or less: unlikely`,
    middle: '0: certain',
    high: '',
    write: ({ token }) => formatMetric(token.logprob),
  }
}

/** Says how likely a sampled token was. */
export function explainSampled({ token: { text, logprob } }: MeasuredToken): string {
  if (logprob === undefined) return `${JSON.stringify(text)}: no log-probability came with it`
  return `${JSON.stringify(text)}: log-probability ${formatMetric(logprob)}, probability ${formatMetric(Math.exp(logprob) * 100)} %`
}

/** What it was sampled with is in the conversation too. */
function oldLogprobOf({ statistics, token }: MeasuredToken): number | null | undefined {
  return statistics?.oldLogprob ?? token.logprob
}

function sideOf(token: TokenStatistics | undefined): number {
  return token?.isClippedLow === true ? -1 : token?.isClippedHigh === true ? 1 : 0
}

function ofFlags(read: (token: TokenStatistics | undefined) => number, low: string, high: string): Scale {
  const shade = ({ statistics }: MeasuredToken) => read(statistics)
  const write = (token: MeasuredToken) => [low, 'no', high][shade(token) + 1]!
  return { shade, low, middle: 'no', high, write }
}

const logOf = (value: number | null | undefined) => (value ? Math.log(value) : undefined)

function greatest(values: readonly (number | null | undefined)[]): number {
  return values.reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), 0)
}

/** The sign of a shade, for who does not see its colour. Faint shades have none. */
export function signOf(shade: number): '' | '+' | '−' {
  return Math.abs(shade) < 0.2 ? '' : shade > 0 ? '+' : '−'
}
