import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { usePolling } from '../../data/live.ts'
import { loggedRunsQuery, type LoggedRun } from '../../data/logged-runs.ts'
import { revealHidden } from '../../logic/chat.ts'
import { describeSize, formatCount } from '../../logic/numbers.ts'
import { Age, Chip } from '../../parts/badges.tsx'
import { Download } from '../../parts/download.tsx'
import { Section } from '../../parts/page.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import classes from './runs.module.css'

/** What programs have logged by the wandb SDK, without a model of the same name. */
export function useLoggedRuns(project: string) {
  const { data } = useQuery({ ...loggedRunsQuery(project), refetchInterval: usePolling() })
  return data && { runs: data.items.filter(({ model_id: modelId }) => modelId === null), isWhole: data.isWhole }
}

export function LoggedRuns({ runs, isWhole }: { runs: readonly LoggedRun[]; isWhole: boolean }) {
  const { project } = useParams({ from: '/inside/$entity/$project/runs' })
  return (
    <Section
      title="Logged by wandb"
      aside={
        <>
          <span className={classes.hint}>{describeSize(runs.length, { isWhole, total: undefined }, 'run')}</span>
          <Download name={`${project}-logged-runs`} rows={runs} />
        </>
      }
    >
      <Table label="Logged by wandb" columns={columns} rows={runs} keyOf={({ id }) => id} />
    </Section>
  )
}

const columns: Column<LoggedRun>[] = [
  { id: 'name', head: 'Run', width: 'minmax(220px, 2fr)', cell: (run) => <RunLink run={run} /> },
  {
    id: 'state',
    head: 'State',
    width: '110px',
    cell: ({ state }) =>
      state === 'crashed' || state === 'failed' ? <Chip tone="orange">{state}</Chip> : <span>{state}</span>,
  },
  { id: 'step', head: 'Step', width: '84px', isNumber: true, cell: ({ last_step: step }) => formatCount(step) },
  { id: 'lines', head: 'Lines', width: '84px', isNumber: true, cell: ({ history_lines: n }) => formatCount(n) },
  { id: 'tags', head: 'Tags', width: 'minmax(120px, 1fr)', cell: ({ tags }) => revealHidden(tags.join(', ')) },
  {
    id: 'created',
    head: 'Created',
    width: '104px',
    isNumber: true,
    cell: ({ created_at: time }) => <Age time={time} />,
  },
]

function RunLink({ run: { name, display_name: label } }: { run: LoggedRun }) {
  const { entity, project } = useParams({ from: '/inside/$entity/$project/runs' })
  return (
    <Link to="/$entity/$project/runs/$run" params={{ entity, project, run: name }} data-row>
      {revealHidden(label)}
    </Link>
  )
}
