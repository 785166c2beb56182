import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { metricsQuery } from '../../data/metrics.ts'
import { formatMetric } from '../../logic/numbers.ts'
import { readRewards, type Run } from '../../logic/runs.ts'
import { Age, Chip, Sparkline, StateBadge } from '../../parts/badges.tsx'
import type { Column } from '../../parts/table.tsx'
import classes from './runs.module.css'

interface Picking {
  picked: readonly string[]
  pick: (name: string) => void
  isFull: boolean
  hidden: readonly string[]
  /** Those that come first, and stay there. */
  pinned: readonly string[]
}

/** The columns that may be hidden. */
export const optionalColumns = ['activity', 'step', 'reward', 'best', 'aliases', 'base', 'created'] as const

export function listColumns({ picked, pick, isFull, hidden, pinned }: Picking): Column<Run>[] {
  const name: Column<Run> = {
    id: 'name',
    head: 'Run',
    width: 'minmax(220px, 2fr)',
    isSortable: true,
    cell: ({ name: run }) => (
      <span className={classes.name}>
        <input
          type="checkbox"
          aria-label={`Compare ${run}`}
          checked={picked.includes(run)}
          disabled={isFull && !picked.includes(run)}
          onChange={() => pick(run)}
        />
        <RunLink run={run} />
      </span>
    ),
  }
  const shown = others.filter(({ id }) => !hidden.includes(id))
  return [name, ...pickPinned(shown, pinned), ...shown.filter(({ id }) => !pinned.includes(id))]
}

/** The shown columns that are pinned, in the order in which they were. */
export function pickPinned<C extends { id: string }>(shown: readonly C[], pinned: readonly string[]): C[] {
  return pinned.flatMap((name) => shown.filter(({ id }) => id === name))
}

const others: Column<Run>[] = [
  {
    id: 'activity',
    head: 'State',
    width: '110px',
    isSortable: true,
    cell: ({ activity }) =>
      activity === undefined ? <span className={classes.idle}>idle</span> : <StateBadge state={activity} />,
  },
  { id: 'step', head: 'Step', width: '72px', isNumber: true, isSortable: true, cell: ({ latest_step }) => latest_step },
  {
    id: 'reward',
    head: 'Reward',
    width: '172px',
    isNumber: true,
    isSortable: true,
    cell: ({ id }) => <Reward modelId={id} />,
  },
  {
    id: 'best',
    head: 'Best val',
    width: '84px',
    isNumber: true,
    isSortable: true,
    cell: ({ id }) => <BestReward modelId={id} />,
  },
  {
    id: 'aliases',
    head: 'Aliases',
    width: 'minmax(100px, 1fr)',
    cell: ({ aliases }) => (
      <span className={classes.aliases}>
        {Object.entries(aliases).map(([alias, step]) => (
          <Chip key={alias} tone="blue">{`${alias} ${step}`}</Chip>
        ))}
      </span>
    ),
  },
  {
    id: 'base',
    head: 'Base model',
    width: 'minmax(140px, 1fr)',
    isSortable: true,
    cell: ({ base_model }) => <span className={classes.idle}>{base_model}</span>,
  },
  {
    id: 'created',
    head: 'Created',
    width: '104px',
    isNumber: true,
    isSortable: true,
    cell: ({ created_at }) => <Age time={created_at} />,
  },
]

function RunLink({ run }: { run: string }) {
  const { entity, project } = useParams({ from: '/inside/$entity/$project/runs' })
  return (
    <Link to="/$entity/$project/runs/$run" params={{ entity, project, run }} data-row>
      {run}
    </Link>
  )
}

/** The rewards of a run, in as few points as a small chart has. */
export const rewardsQuery = (modelId: string) => metricsQuery(modelId, ['reward', 'val/reward'], { points: 60 })

function Reward({ modelId }: { modelId: string }) {
  const { data } = useQuery(rewardsQuery(modelId))
  const points = data?.['reward']?.points ?? []
  return (
    <span className={classes.reward}>
      {points.length > 1 && <Sparkline points={points} />}
      <span>{formatMetric(points.at(-1)?.value)}</span>
    </span>
  )
}

function BestReward({ modelId }: { modelId: string }) {
  const { data } = useQuery(rewardsQuery(modelId))
  return <span>{formatMetric(data && readRewards(data).best)}</span>
}
