import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wholeListQuery, type Item } from '../../data/queries.ts'
import { sessionQuery } from '../../data/session.ts'
import { countOf, describeSize } from '../../logic/numbers.ts'
import { Age } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import classes from './home.module.css'

/** The projects of the entity. */
export function HomeScreen() {
  const projects = useQuery(wholeListQuery('GET /v1/preview/projects'))
  const { data: session } = useQuery(sessionQuery)
  const entity = session?.entity ?? ''
  return (
    <Page
      title="Projects"
      actions={
        <>
          <Download name="projects" rows={projects.data?.items ?? []} />
          <AsCommand requests={[{ address: '/v1/preview/projects' }]} />
        </>
      }
    >
      <Answered result={projects}>
        {({ items, lastPage, ...size }) => (
          <>
            {!lastPage.has_all_traces && (
              <p role="status" className={classes.partial}>
                The database of traces does not answer. Projects that have only traces are missing.
              </p>
            )}
            {!size.isWhole && <p role="status">{describeSize(items.length, size, 'project')}</p>}
            {items.length > 0 && <ProjectList entity={entity} projects={items} />}
            {items.length === 0 && lastPage.has_all_traces && (
              <Empty title="No projects yet" command="npm run demo">
                A project is there as soon as something is in it. The demo trains a first model.
              </Empty>
            )}
          </>
        )}
      </Answered>
    </Page>
  )
}

type Project = Item<'GET /v1/preview/projects'>

function ProjectList({ entity, projects }: { entity: string; projects: readonly Project[] }) {
  return (
    <ul className={classes.projects}>
      {projects.map((project) => (
        <li key={project.name}>
          <Link to="/$entity/$project" params={{ entity, project: project.name }}>
            <b>{project.name}</b>
            <span>{describeContent(project)}</span>
            <span>
              since <Age time={project.created_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function describeContent({ models, data_sets: dataSets, has_traces: isTraced }: Project): string {
  const parts = [countOf(models, 'run'), dataSets > 0 && countOf(dataSets, 'data set'), isTraced && 'traces']
  return parts.filter((text) => typeof text === 'string').join(', ')
}
