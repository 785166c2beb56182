import { Link, useParams } from '@tanstack/react-router'
import { findSubstitute } from '../../logic/call-search.ts'
import { Page } from '../../parts/page.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { Empty } from '../../parts/state.tsx'

/** Where links of tracing clients lead that have no screen of their own: it leads on to the calls that they mean. */
export function UnsupportedPathScreen() {
  const { _splat: path = '', ...params } = useParams({ from: '/inside/$entity/$project/weave/$' })
  const { label, search } = findSubstitute(path)
  return (
    <Page title="Traces" trail={<ProjectLink />}>
      <Empty title="The console has no screen for this">
        What the client has written is stored, and its API reads it.{' '}
        <Link to="/$entity/$project/weave/calls" params={params} search={search}>
          {label}
        </Link>
      </Empty>
    </Page>
  )
}
