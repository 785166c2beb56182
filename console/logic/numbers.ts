const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** A count, with separators. */
export function formatCount(value: number): string {
  return whole.format(value)
}

/** A large count in few characters. */
export function formatCompact(value: number): string {
  return Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value)
}

/** A value of a metric, in about four significant digits. */
export function formatMetric(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 10_000) return compact.format(value)
  if (size < 0.001)
    return value
      .toExponential(1)
      .replace('e-0', 'e-')
      .replace('-', size === -value ? '−' : '-')
  if (Number.isInteger(value)) return whole.format(value).replace('-', '−')
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3).replace('-', '−')
}

const maxDecimals = 3

/** The ticks of an axis, all with as many decimals as the finest of them needs. Very large and very small ones are as elsewhere. */
export function formatTicks(ticks: readonly number[]): string[] {
  const sizes = ticks.filter((tick) => tick !== 0).map(Math.abs)
  if (Math.max(...sizes) >= 10_000 || Math.min(...sizes) < 10 ** -maxDecimals) return ticks.map(formatMetric)
  const isExact = (decimals: number) => ticks.every((tick) => Math.abs(tick - Number(tick.toFixed(decimals))) < 1e-9)
  const decimals = Array.from({ length: maxDecimals }, (_, count) => count).find(isExact) ?? maxDecimals
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  return ticks.map((tick) => format.format(tick).replace('-', '−'))
}

/** A value with its sign, for advantages and pushes. */
export function formatSigned(value: number | null): string {
  if (value === null) return '–'
  return value > 0 ? `+${formatMetric(value)}` : formatMetric(value)
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
}

export function standardDeviation(values: readonly number[]): number | undefined {
  const middle = mean(values)
  return middle === undefined ? undefined : Math.sqrt(mean(values.map((value) => (value - middle) ** 2))!)
}

/** `1 job`, `2 jobs`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`
}

/** Above this number, lists are not counted to their end. */
export const maxTotal = 100_000

/** How much of a list is there. `total` is that of all of it, if it is known. */
export interface ListSize {
  isWhole: boolean
  total: number | undefined
}

/** `12 jobs`, or `500 of 8,412 jobs`. */
export function describeSize(
  shown: number,
  { isWhole, total }: ListSize,
  singular: string,
  plural = `${singular}s`,
): string {
  if (isWhole) return countOf(shown, singular, plural)
  if (total === undefined) return `${formatCount(shown)} of more ${plural}`
  return `${formatCount(shown)} of ${total >= maxTotal ? 'more than ' : ''}${countOf(total, singular, plural)}`
}

/** An amount of money. Prices of tokens are small. */
export function formatMoney(amount: number): string {
  if (amount === 0) return '$0'
  return `$${amount >= 0.01 ? amount.toFixed(2) : amount < 0.000001 ? amount.toExponential(1) : Number(amount.toPrecision(2))}`
}
