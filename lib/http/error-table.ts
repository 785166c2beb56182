/**
 * Whether a client may send the request again as it is: `no`, because it will fail again; `yes`, because it may succeed;
 * `retry-after`, when the seconds of the header Retry-After are over.
 */
export type Retry = 'no' | 'yes' | 'retry-after'

/** One row of a table of errors. */
export interface ErrorDefinition {
  /** Short and stable: programs may compare it. */
  code: string
  /** The HTTP status. */
  status: number
  /** What an answer says when nothing more specific is known, in one sentence. */
  sentence: string
  retry: Retry
}

/** A table of errors by their codes. */
export function defineErrors<const Code extends string>(
  table: Record<Code, Omit<ErrorDefinition, 'code'>>,
): Record<Code, ErrorDefinition> {
  const rows = Object.entries<Omit<ErrorDefinition, 'code'>>(table)
  return Object.fromEntries(rows.map(([code, row]) => [code, { code, ...row }])) as Record<Code, ErrorDefinition>
}
