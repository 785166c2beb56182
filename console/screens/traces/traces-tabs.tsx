import { Link, useParams } from '@tanstack/react-router'
import tabs from '../../parts/tabs.module.css'

/** The two tables: calls that have no parent, and all calls. */
export function TracesTabs() {
  const params = useParams({ from: '/inside/$entity/$project' })
  return (
    <nav aria-label="Tables of calls" className={tabs.tabs}>
      <Link to="/$entity/$project/weave/traces" params={params}>
        Traces
      </Link>
      <Link to="/$entity/$project/weave/calls" params={params}>
        All calls
      </Link>
    </nav>
  )
}
