import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../../data/base.ts'
import { listDataSetRequests, objectsQuery, uploadsQuery } from '../../data/data-sets.ts'
import { revealHidden } from '../../logic/chat.ts'
import { listDataSets, type DataSet } from '../../logic/data-sets.ts'
import { countOf, formatBytes, formatCount } from '../../logic/numbers.ts'
import { writeUpload } from '../../logic/snippets.ts'
import { Age, Chip } from '../../parts/badges.tsx'
import { AsCommand } from '../../parts/command.tsx'
import { FilterField } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { WithPeek } from '../../parts/peek.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { useRowKeys } from '../../parts/row-keys.ts'
import { Answered, Empty } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { VersionsPeek } from './versions.tsx'

const route = '/inside/$entity/$project/datasets'

/** The data sets of a project with their versions: those that were uploaded, and those of weave. */
export function DataSetsScreen() {
  const { entity, project } = useParams({ from: route })
  const projectId = `${entity}/${project}`
  const uploads = useQuery(uploadsQuery(project))
  const objects = useQuery(objectsQuery(projectId))
  const data = useMemo(
    () => uploads.data && objects.data && listDataSets(uploads.data.items, objects.data),
    [uploads.data, objects.data],
  )
  const failed = uploads.error ? uploads : objects
  const { q } = useSearch({ from: route })
  const shown = data?.filter(({ name }) => name.toLowerCase().includes((q ?? '').toLowerCase())) ?? []
  return (
    <Page
      title="Data sets"
      trail={<ProjectLink />}
      actions={
        <>
          <Download name={`${project}-data-sets`} rows={shown} />
          <AsCommand requests={listDataSetRequests(projectId, project)} />
        </>
      }
    >
      <Answered result={{ ...failed, data }} rows={8}>
        {(all) => <Shown count={all.length} shown={shown} />}
      </Answered>
    </Page>
  )
}

/** `count` is how many there are without a filter. */
function Shown({ count, shown }: { count: number; shown: readonly DataSet[] }) {
  const { entity, project } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/datasets' })
  const change = (changes: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const open = (key: string | undefined) => change({ peek: key })
  useRowKeys(
    shown.map(({ key }) => ({ id: key })),
    search.peek,
    open,
  )
  const upload = writeUpload(baseUrl, { entity, project })
  if (count === 0)
    return (
      <Empty title="No data sets yet" command={upload}>
        A data set is what a job reads, or what calls and trajectories are copied into. This command uploads one.
      </Empty>
    )
  return (
    <WithPeek peek={search.peek !== undefined && <VersionsPeek id={search.peek} onClose={() => open(undefined)} />}>
      <div className={controls.bar}>
        <FilterField label="Filter data sets" value={search.q} onChange={(q) => change({ q })} />
        <p role="status" className={controls.count}>
          {shown.length < count && `${formatCount(shown.length)} of `}
          {countOf(count, 'data set')}
        </p>
      </div>
      {shown.length === 0 ? (
        <Empty title="No data set has this in its name" command={upload}>
          The command uploads one.
        </Empty>
      ) : (
        <Table
          label="Data sets"
          columns={listColumns(open)}
          rows={shown}
          keyOf={({ key }) => key}
          selected={search.peek}
        />
      )}
    </WithPeek>
  )
}

function listColumns(onOpen: (key: string) => void): Column<DataSet>[] {
  return [
    {
      id: 'name',
      head: 'Name',
      width: 'minmax(160px, 2fr)',
      cell: ({ key, name }) => (
        <button type="button" data-row onClick={() => onOpen(key)}>
          {revealHidden(name)}
        </button>
      ),
    },
    { id: 'kind', head: 'Kind', width: 'minmax(100px, 1fr)', cell: ({ kind }) => <Chip>{revealHidden(kind)}</Chip> },
    { id: 'versions', head: 'Versions', width: '84px', isNumber: true, cell: ({ versions }) => formatCount(versions) },
    { id: 'newest', head: 'Newest', width: '84px', isNumber: true, cell: ({ newest }) => newest },
    {
      id: 'size',
      head: 'Size',
      width: '92px',
      isNumber: true,
      cell: ({ bytes }) => (bytes === undefined ? '–' : formatBytes(bytes)),
    },
    {
      id: 'changed',
      head: 'Changed',
      width: '104px',
      isNumber: true,
      cell: ({ changedAt }) => <Age time={changedAt} />,
    },
  ]
}
