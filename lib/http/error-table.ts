/**
 * Whether a client may send the same request again. `no`: it will fail again. `yes`: it may succeed. `retry-after`:
 * after the seconds in the header Retry-After.
 */
export type Retry = 'no' | 'yes' | 'retry-after'

/** One row of a table of errors. */
export interface ErrorDefinition {
  /** Short and stable, because programs may compare it. */
  code: string
  /** The HTTP status. */
  status: number
  /** One sentence for an answer without a more specific message. */
  sentence: string
  retry: Retry
  ofLimit?: never
}

/** An error of limits. Its answers are made of a limit's name, not of this row alone, so that each of them has the name. */
export interface LimitErrorDefinition extends Omit<ErrorDefinition, 'ofLimit'> {
  ofLimit: true
}

/** Builds a table of errors by their codes. */
export function defineErrors<const Code extends string>(
  table: Record<Code, Omit<ErrorDefinition, 'code'>>,
): Record<Code, ErrorDefinition> {
  const rows = Object.entries<Omit<ErrorDefinition, 'code'>>(table)
  return Object.fromEntries(rows.map(([code, row]) => [code, { code, ...row }])) as Record<Code, ErrorDefinition>
}

/** Builds a table of errors of limits. */
export function defineLimitErrors<const Code extends string>(
  table: Record<Code, Omit<LimitErrorDefinition, 'code' | 'ofLimit'>>,
): Record<Code, LimitErrorDefinition> {
  const rows = Object.entries(defineErrors(table)) as [Code, ErrorDefinition][]
  return Object.fromEntries(rows.map(([code, row]) => [code, { ...row, ofLimit: true }])) as Record<
    Code,
    LimitErrorDefinition
  >
}
