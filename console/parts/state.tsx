import type { ReactNode } from 'react'
import { ApiError } from '../data/client.ts'
import { Command } from './command.tsx'
import classes from './state.module.css'

/** Rows in the height of those that follow, while the first answer is on its way. */
export function Loading({ rows = 6, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div className={classes.loading} role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className={classes.bar} data-short={index % 3 === 2} />
      ))}
    </div>
  )
}

interface EmptyProps {
  title: string
  /** `h1` if the page has no other heading. */
  heading?: 'h1' | 'h2'
  children?: ReactNode
  command?: string
}

/** A list without anything in it, and the command that fills it. */
export function Empty({ title, heading: Heading = 'h2', children, command }: EmptyProps) {
  return (
    <div className={classes.state}>
      <Heading>{title}</Heading>
      {children && <div>{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  )
}

/** An error: what the server says, and the id by which its log can be searched. */
export function Failure({
  error,
  heading: Heading = 'h2',
  onRetry,
}: {
  error: Error
  heading?: 'h1' | 'h2'
  onRetry?: () => void
}) {
  const { status, requestId } = error instanceof ApiError ? error : { status: undefined, requestId: undefined }
  return (
    <div className={classes.state} role="alert">
      <Heading>{titleOf(status)}</Heading>
      <p>{error.message}</p>
      {requestId !== undefined && (
        <p className={classes.request}>
          request <code>{requestId}</code>
        </p>
      )}
      {onRetry && status !== 403 && status !== 404 && (
        <button type="button" className={classes.button} onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

function titleOf(status: number | undefined): string {
  if (status === 403) return 'Your key has no right to see this'
  if (status === 404) return 'This does not exist'
  if (status === 0) return 'No connection'
  return 'This did not work'
}

interface Result<T> {
  data: T | undefined
  error: Error | null
  refetch: () => unknown
}

/** Shows an answer, or its state until there is one. An answer stays when a later request fails. */
export function Answered<T>({
  result,
  rows,
  children,
}: {
  result: Result<T>
  rows?: number
  children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = result
  if (data !== undefined) return children(data)
  if (error) return <Failure error={error} onRetry={() => void refetch()} />
  return <Loading {...(rows !== undefined && { rows })} />
}
