import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import type { Job } from '../../data/models.ts'
import { wholeListQuery } from '../../data/queries.ts'
import { describeSize } from '../../logic/numbers.ts'
import { formatDuration } from '../../logic/time.ts'
import { Age, StateBadge } from '../../parts/badges.tsx'
import { Download } from '../../parts/download.tsx'
import { Answered } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { EmptyRun } from './empty-run.tsx'
import { useModel } from './use-model.ts'
import classes from './checkpoints.module.css'

/** The training jobs of a run, the newest first. */
export function JobsTab() {
  const model = useModel()
  const jobs = useQuery({
    ...wholeListQuery('GET /v1/preview/training-jobs', { query: { model_id: model.id, order: 'desc' } }, 500),
    refetchInterval: usePolling(),
  })
  return (
    <Answered result={jobs} rows={8}>
      {({ items, ...size }) =>
        items.length === 0 ? (
          <EmptyRun title="No training jobs yet">Each call of train makes one.</EmptyRun>
        ) : (
          <>
            <div className={classes.count}>
              <p role="status">{describeSize(items.length, size, 'job')}</p>
              <Download name={`${model.name}-jobs`} rows={items} />
            </div>
            <Table label="Training jobs" columns={columns} rows={items} keyOf={({ id }) => id} />
          </>
        )
      }
    </Answered>
  )
}

const columns: Column<Job>[] = [
  { id: 'job', head: 'Job', width: '112px', cell: ({ id }) => <JobLink job={id} /> },
  { id: 'state', head: 'State', width: '116px', cell: ({ state }) => <StateBadge state={state} /> },
  { id: 'method', head: 'Method', width: '80px', cell: ({ method }) => method },
  { id: 'step', head: 'Step', width: '72px', isNumber: true, cell: ({ step }) => step ?? '–' },
  {
    id: 'gradient',
    head: 'Gradient steps',
    width: '116px',
    isNumber: true,
    cell: ({ progress }) => `${progress.step}${progress.total_steps === null ? '' : ` / ${progress.total_steps}`}`,
  },
  { id: 'took', head: 'Trained', width: '96px', isNumber: true, cell: ({ timeline }) => sayLength(timeline) },
  {
    id: 'note',
    head: 'Note',
    width: 'minmax(160px, 1fr)',
    cell: ({ failure, queue, warnings }) => failure?.message ?? queue?.message ?? warnings[0]?.message ?? '',
  },
  {
    id: 'created',
    head: 'Created',
    width: '104px',
    isNumber: true,
    cell: ({ created_at }) => <Age time={created_at} />,
  },
]

function sayLength({ started_at, trained_at, finished_at }: Job['timeline']): string {
  const end = trained_at ?? finished_at
  return started_at === null || end === null ? '–' : formatDuration(Date.parse(end) - Date.parse(started_at))
}

function JobLink({ job }: { job: string }) {
  const { entity, project } = useParams({ from: '/inside/$entity/$project' })
  return (
    <Link to="/$entity/$project/jobs/$job" params={{ entity, project, job }} data-row>
      {job.slice(0, 8)}
    </Link>
  )
}
