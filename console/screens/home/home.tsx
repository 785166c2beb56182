import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wholeListQuery } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { countOf } from '../../logic/numbers.ts'
import { Age } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Page } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './home.module.css'

/** The projects of the entity. */
export function HomeScreen() {
  const projects = useQuery(wholeListQuery('GET /v1/preview/projects'))
  const { data: session } = useQuery(sessionQuery)
  const entity = session?.entity ?? ''
  return (
    <Page title="Projects" actions={<AsCommand requests={[{ address: '/v1/preview/projects' }]} />}>
      <Answered result={projects}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No projects yet" command="npm run demo">
              A project is there as soon as something is in it. The demo trains a first model.
            </Empty>
          ) : (
            <ul className={classes.projects}>
              {items.map(({ name, models, has_traces: isTraced, data_sets: dataSets, created_at: time }) => (
                <li key={name}>
                  <Link to="/$entity/$project" params={{ entity, project: name }}>
                    <b>{name}</b>
                    <span>
                      {[countOf(models, 'run'), dataSets > 0 && countOf(dataSets, 'data set'), isTraced && 'traces']
                        .filter((text) => text !== false)
                        .join(', ')}
                    </span>
                    <span>
                      since <Age time={time} />
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
