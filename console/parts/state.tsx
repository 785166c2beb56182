import type { ReactNode } from 'react'
import { ApiError } from '../data/client.ts'
import { Age } from './badges.tsx'
import { Command } from './command.tsx'
import controls from './controls.module.css'
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
  /** A button that leads out of here. */
  action?: ReactNode
}

/** A list without anything in it, and the command that fills it or asks for it. */
export function Empty({ title, heading: Heading = 'h2', children, command, action }: EmptyProps) {
  return (
    <div className={classes.state}>
      <Heading>{title}</Heading>
      {children && <div>{children}</div>}
      {action}
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

interface StaleProps {
  error: Error
  /** When what is shown was read. */
  readAt: number | undefined
  onRetry: () => void
}

/** What is shown is old, and why. */
function Stale({ error, readAt, onRetry }: StaleProps) {
  return (
    <p role="status" className={classes.stale}>
      This is from {readAt ? <Age time={new Date(readAt).toISOString()} /> : 'an earlier answer'}: {error.message}{' '}
      <button type="button" className={controls.quiet} onClick={onRetry}>
        Try again
      </button>
    </p>
  )
}

interface Result<T> {
  data: T | undefined
  error: Error | null
  dataUpdatedAt?: number
  refetch: () => unknown
}

/** Shows an answer, or its state until there is one. An answer stays when a later request fails, and says so. */
export function Answered<T>({
  result,
  rows,
  children,
}: {
  result: Result<T>
  rows?: number
  children: (data: T) => ReactNode
}) {
  const { data, error, dataUpdatedAt, refetch } = result
  const retry = () => void refetch()
  if (data !== undefined)
    return (
      <>
        {error && <Stale error={error} readAt={dataUpdatedAt} onRetry={retry} />}
        {children(data)}
      </>
    )
  if (error) return <Failure error={error} onRetry={retry} />
  return <Loading {...(rows !== undefined && { rows })} />
}
