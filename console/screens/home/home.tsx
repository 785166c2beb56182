import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { countOf } from '../../logic/numbers.ts'
import { Age } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Page } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './home.module.css'

interface Project {
  name: string
  runs: number
  newest: string
}

type Model = Item<'GET /v1/preview/models'>

function listProjects(models: readonly Model[]): Project[] {
  const byName = Map.groupBy(models, ({ project }) => project)
  const projects = [...byName].map(([name, own]) => ({
    name,
    runs: own.length,
    newest: own.map(({ created_at }) => created_at).reduce((a, b) => (a > b ? a : b)),
  }))
  return projects.toSorted((a, b) => (a.newest < b.newest ? 1 : -1))
}

/** The projects of the entity. */
export function HomeScreen() {
  const models = useQuery(wholeListQuery('GET /v1/preview/models', { query: { order: 'desc' } }))
  const { data: session } = useQuery(sessionQuery)
  const entity = session?.entity ?? ''
  return (
    <Page title="Projects" actions={<AsCommand requests={[{ address: '/v1/preview/models?order=desc' }]} />}>
      <Answered result={models}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No projects yet" command="npm run demo">
              A project is there as soon as something is in it. The demo trains a first model.
            </Empty>
          ) : (
            <ul className={classes.projects}>
              {listProjects(items).map(({ name, runs, newest }) => (
                <li key={name}>
                  <Link to="/$entity/$project" params={{ entity, project: name }}>
                    <b>{name}</b>
                    <span>{countOf(runs, 'run')}</span>
                    <span>
                      newest <Age time={newest} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Page>
  )
}
